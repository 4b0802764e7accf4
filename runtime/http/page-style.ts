/** The one stylesheet of people's pages: no font, image or script from anywhere; from 320 px; light and dark; forced colours keep their borders. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --text: #16202c; --muted: #4a5768; --back: #eef2f6; --card: #fff; --edge: #d5dde6; --line: #6b7888; --field: #fff;
  --act: #0b5cad; --act-more: #084886; --on-act: #fff; --bad: #a5131b; --bad-back: #fdecec; --soft: #e7f0fa; --on-soft: #0a457f;
  --shadow: 0 1px 2px rgb(22 32 44 / 6%), 0 8px 24px rgb(22 32 44 / 8%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #eaf0f6; --muted: #aab7c6; --back: #0f141a; --card: #19212a; --edge: #2b3744; --line: #8896a6; --field: #121921;
    --act: #86bdf7; --act-more: #a9d1fb; --on-act: #08131f; --bad: #ffa9a9; --bad-back: #35191c; --soft: #1e3048; --on-soft: #bfdcfb; --shadow: none;
  }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; padding: 1.5rem 1rem; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere }
header, main, footer { width: 100%; max-width: 27rem; margin: 0 auto }
header { display: flex; align-items: center; gap: .5rem; margin-bottom: 1rem; font-weight: 600 }
.shield { flex: none; fill: var(--act); stroke: none }
.shield path + path { fill: none; stroke: var(--on-act); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }
footer { margin-top: 1rem; color: var(--muted); font-size: .875rem }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: .875rem; padding: 1.5rem; box-shadow: var(--shadow) }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; margin: 0 0 .75rem; text-wrap: balance }
h2 { font-size: 1rem; margin: 1.5rem 0 .25rem }
p { margin: 0 0 .75rem }
label { display: block; margin: 1rem 0 .375rem; font-weight: 600 }
input:not([type=checkbox], [type=radio]) { display: block; width: 100%; min-height: 2.875rem; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--field); border: 1px solid var(--line); border-radius: .5rem }
input[aria-invalid=true] { border-color: var(--bad); border-width: 2px }
input.code { font-size: 1.25rem; letter-spacing: .15em; font-variant-numeric: tabular-nums }
button { display: block; width: 100%; min-height: 2.875rem; margin-top: 1rem; padding: .5rem 1rem; font: inherit; font-weight: 600; border: 1px solid var(--act); border-radius: .5rem; background: var(--act); color: var(--on-act); cursor: pointer }
button:hover { background: var(--act-more); border-color: var(--act-more) }
button.quiet { background: transparent; color: var(--act); border-color: var(--line) }
button.quiet:hover { background: var(--soft); color: var(--on-soft) }
button.plain { width: auto; margin: .5rem auto 0; border-color: transparent; background: transparent; color: var(--muted); font-weight: 500; text-decoration: underline; text-underline-offset: .2em }
a { color: var(--act); text-underline-offset: .2em }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px }
.links { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 1rem 0 0 }
.links a, .links p { display: inline-flex; align-items: center; min-height: 1.75rem; margin: 0 }
.ways { list-style: none; margin: 1rem 0 0; padding: 0 }
.ways a { display: inline-flex; align-items: center; min-height: 1.75rem }
.app { padding: 1rem 0; border-top: 1px solid var(--edge) }
.app h2 { margin: 0 0 .25rem }
.app ul { margin: 0 0 .25rem; padding-left: 1.25rem; font-size: .9375rem }
.other { margin-top: 1.5rem; padding-top: .25rem; border-top: 1px solid var(--edge) }
summary { display: flex; align-items: center; justify-content: space-between; min-height: 2.75rem; color: var(--act); font-weight: 600; cursor: pointer }
summary::after { content: "\\25be" / ""; font-size: 1.25rem }
details[open] summary::after { content: "\\25b4" / "" }
summary::-webkit-details-marker { display: none }
details { margin-top: 1rem; border-top: 1px solid var(--edge); padding-top: .25rem }
.who { display: flex; gap: .5rem; align-items: baseline; padding: .5rem .75rem; border-radius: .5rem; background: var(--soft); color: var(--on-soft); font-size: .9375rem }
.scopes { list-style: none; margin: .5rem 0 0; padding: 0; border: 1px solid var(--edge); border-radius: .625rem }
.scopes li + li { border-top: 1px solid var(--edge) }
.scopes label { display: flex; gap: .75rem; align-items: flex-start; margin: 0; padding: .75rem; font-weight: 400; cursor: pointer }
.scopes input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--act) }
.amounts { display: grid; grid-template-columns: 1fr auto; gap: .25rem 1rem; margin: 0 0 1rem }
.amounts dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums }
.amounts .total { padding-top: .5rem; border-top: 1px solid var(--edge); font-weight: 600 }
.group { min-width: 0; margin: 1.25rem 0 0; padding: 0; border: 0 }
.group .note { margin-top: .25rem }
legend { padding: 0; font-weight: 600 }
.answers { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1rem }
.answers button { flex: 1 1 100%; margin: 0 }
.alert { margin: 0 0 1rem; padding: .75rem 1rem; border: 1px solid var(--bad); border-left-width: 4px; border-radius: .5rem; background: var(--bad-back) }
.alert a { color: var(--bad); font-weight: 600 }
.note { margin-top: .75rem; color: var(--muted); font-size: .9375rem }
.typed { font-size: 1.75rem; font-weight: 600; letter-spacing: .125em; margin: .5rem 0 }
.steps { margin: 0 0 1rem; padding-left: 1.25rem }
.qr { display: block; margin: 0 auto; padding: .5rem; border-radius: .5rem; background: #fff; max-width: 100%; height: auto }
code { font: 600 .9375rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
.codes { display: grid; grid-template-columns: repeat(auto-fill, minmax(7rem, 1fr)); gap: .25rem 1rem; list-style: none; margin: 0; padding: 1rem; border: 1px solid var(--edge); border-radius: .625rem }
@media (min-width: 30rem) { body { padding-top: 3rem } .card { padding: 2rem } }
@media (forced-colors: active) { .shield { forced-color-adjust: auto } button { border-color: ButtonText } }
@media print { header, footer, button { display: none } .card { border: 0; box-shadow: none } }
`.trim();

/** What stands for the pages in a browser's tabs. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#0b5cad" d="M12 2 4 5v6c0 5 3.4 9.4 8 11 4.6-1.6 8-6 8-11V5z"/></svg>';
