/** The stylesheet of the start page and of development's mail: from 320 px, light and dark, no font or picture from anywhere. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --text: #16202c; --muted: #4a5768; --back: #f3f6f9; --card: #fff; --edge: #d5dde6; --line: #6b7888; --code: #f3f6f9;
  --act: #0b5cad; --act-more: #084886; --on-act: #fff; --soft: #e7f0fa; --on-soft: #0a457f;
  --good: #0b6b3a; --good-back: #e3f5ea; --bad: #a5131b; --bad-back: #fdecec; --wait-back: #eceff3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #eaf0f6; --muted: #aab7c6; --back: #0f141a; --card: #19212a; --edge: #2b3744; --line: #8896a6; --code: #11181f;
    --act: #86bdf7; --act-more: #a9d1fb; --on-act: #08131f; --soft: #1e3048; --on-soft: #bfdcfb;
    --good: #8fe0b0; --good-back: #14301f; --bad: #ffa9a9; --bad-back: #35191c; --wait-back: #26303b;
  }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
header, main, footer { max-width: 64rem; margin: 0 auto; padding: 0 1rem }
header { padding-top: 2rem; padding-bottom: 1.5rem }
footer { padding-top: 1.5rem; padding-bottom: 2rem; color: var(--muted); font-size: .875rem }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; letter-spacing: -.015em; text-wrap: balance }
h2 { margin: 0 0 1rem; font-size: 1.25rem; line-height: 1.3 }
h3 { margin: 0; font-size: 1rem }
p { margin: .5rem 0 0; max-width: 46rem }
a { color: var(--act); text-underline-offset: .2em }
a:hover { color: var(--act-more) }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; border-radius: .25rem }
section { margin-bottom: 1.25rem; padding: 1.25rem; background: var(--card); border: 1px solid var(--edge); border-radius: .875rem }
.muted { color: var(--muted) }
.mark { display: inline-block; padding: 0 .625rem; border-radius: 1rem; background: var(--soft); color: var(--on-soft); font-size: .8125rem; font-weight: 600; white-space: nowrap }
.mark.ok { background: var(--good-back); color: var(--good) }
.mark.bad { background: var(--bad-back); color: var(--bad) }
.mark.wait { background: var(--wait-back); color: var(--text) }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem }
.calls { list-style: none; margin: 0; padding: 0; display: grid; gap: 1.25rem }
.calls > li { min-width: 0 }
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem; margin-bottom: .5rem }
.buttons { display: flex; gap: .5rem; margin-left: auto }
button { min-height: 2.25rem; padding: .25rem .875rem; font: inherit; font-size: .9375rem; font-weight: 600; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: var(--act); cursor: pointer }
button:hover { background: var(--soft); color: var(--on-soft) }
button.act { border-color: var(--act); background: var(--act); color: var(--on-act) }
button.act:hover { background: var(--act-more) }
button[hidden] { display: none }
code, pre { font: .875rem/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
pre { margin: 0; padding: .75rem 1rem; overflow: auto; max-height: 22rem; background: var(--code); border: 1px solid var(--edge); border-radius: .5rem }
pre.token { white-space: nowrap }
pre + pre, pre + .note { margin-top: .5rem }
pre[hidden] { display: none }
.note { color: var(--muted); font-size: .9375rem }
.tiles { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: .75rem }
.tiles li { padding: .875rem 1rem; border: 1px solid var(--edge); border-radius: .625rem }
.tiles a { font-weight: 600 }
.tiles p { margin: .25rem 0 0; font-size: .9375rem; color: var(--muted) }
.services { list-style: none; margin: 0; padding: 0 }
.services li { display: grid; grid-template-columns: 9rem minmax(0, 1fr) 9rem; gap: .125rem 1rem; align-items: baseline; padding: .625rem 0; border-top: 1px solid var(--edge) }
.services li:first-child { border-top: 0 }
.services .links { display: flex; gap: .25rem .875rem; flex-wrap: wrap; font-size: .9375rem }
.services .state { text-align: right }
.services .state .mark { white-space: normal }
.mails { list-style: none; margin: 0; padding: 0 }
.mails > li { padding: 1rem 0; border-top: 1px solid var(--edge) }
.mails > li:first-child { border-top: 0; padding-top: 0 }
.mails h2 { margin: 0 }
.mails h2::first-letter { text-transform: uppercase }
.mails time { color: var(--muted) }
.mails dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .125rem 1rem; margin: .5rem 0 0 }
.mails dt { color: var(--muted) }
.mails dd { margin: 0; overflow-wrap: anywhere }
.code { font-size: 1.125rem; font-weight: 600; letter-spacing: .1em }
@media (max-width: 44rem) {
  .services li { grid-template-columns: minmax(0, 1fr) auto }
  .services .about { grid-column: 1 / -1; grid-row: 2 }
}
@media (forced-colors: active) { .mark { border: 1px solid } }
`.trim();
