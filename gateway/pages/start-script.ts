/** What makes the start page live: health of the services, the demo token, copying and trying the calls. Runs in the browser. */
export const START_SCRIPT = `
const one = selector => document.querySelector(selector);
const all = selector => [...document.querySelectorAll(selector)];
const POLL_MS = 5000;
/** Before its end a token is replaced, s. */
const EARLY_S = 60;

function show(mark, kind, text) {
  mark.className = 'mark ' + kind;
  mark.textContent = text;
}

async function stateOf(slug) {
  const answer = await fetch('/' + slug + '/readyz', { cache: 'no-store' }).catch(() => null);
  if (!answer) return { ready: false, text: 'not reachable' };
  if (answer.ok) return { ready: true, text: 'ready' };
  const { checks = {} } = await answer.json().catch(() => ({}));
  const failing = Object.keys(checks).filter(name => checks[name] !== 'ok');
  return { ready: false, text: failing.length ? 'failing: ' + failing.join(', ') : 'not reachable' };
}

async function refresh() {
  const marks = all('[data-service]');
  const states = await Promise.all(marks.map(mark => stateOf(mark.dataset.service)));
  states.forEach(({ ready, text }, index) => show(marks[index], ready ? 'ok' : 'bad', text));
  const ready = states.filter(state => state.ready).length;
  const summary = ready === states.length ? 'All ' + ready + ' services are ready' : ready + ' of ' + states.length + ' services are ready';
  if (one('#summary').textContent !== summary) show(one('#summary'), ready === states.length ? 'ok' : 'bad', summary);
}

async function watch() {
  if (!document.hidden) await refresh();
  setTimeout(watch, POLL_MS);
}

let token = null;
async function demoToken() {
  const answer = await fetch('/dev/token', { cache: 'no-store' }).catch(() => null);
  if (!answer || !answer.ok) {
    one('#token').textContent = 'No token could be had: identity did not answer. It is tried again.';
    return void setTimeout(demoToken, POLL_MS);
  }
  const { access_token, expires_in } = await answer.json();
  token = access_token;
  one('#token').textContent = 'TOKEN=' + token;
  one('#until').textContent = 'Valid until ' + new Date(Date.now() + expires_in * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) + '; it may do everything with the development data.';
  for (const button of all('button')) button.hidden = false;
  setTimeout(demoToken, Math.max(EARLY_S, expires_in - EARLY_S) * 1000);
}

async function copy(button) {
  const label = button.textContent;
  await navigator.clipboard.writeText(one('#' + button.dataset.copy).textContent).then(
    () => (button.textContent = 'Copied'),
    () => (button.textContent = 'Not allowed'),
  );
  setTimeout(() => (button.textContent = label), 1500);
}

async function run(button) {
  const { run: path, body } = button.dataset;
  const headers = { authorization: 'Bearer ' + token, ...(body && { 'content-type': 'application/json' }) };
  const output = one('#' + button.getAttribute('aria-controls'));
  output.hidden = false;
  output.textContent = '…';
  const answer = await fetch(path, { headers, ...(body && { method: 'POST', body }) }).catch(() => null);
  const text = answer ? await answer.text() : '';
  let shown = text || 'There was no answer.';
  try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch {}
  output.textContent = shown;
}

for (const button of all('[data-copy]')) button.addEventListener('click', () => copy(button));
for (const button of all('[data-run]')) button.addEventListener('click', () => run(button));
watch();
if (one('#until')) demoToken();
else for (const button of all('[data-copy]')) button.hidden = false;
`.trim();
