/** The one stylesheet of people's pages: no font, image or script from anywhere; from 320 px; light and dark. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1c2430; --back: #f4f6f8; --card: #fff; --line: #6b7684; --act: #0b57a4; --on-act: #fff; --bad: #a5131b; --soft: #e8eef5 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e9edf2; --back: #12161b; --card: #1c2229; --line: #97a3b0; --act: #8fc1f7; --on-act: #0b1420; --bad: #ff9c9c; --soft: #27303a }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 28rem; margin: 0 auto; padding: 1.5rem 1rem; overflow-wrap: anywhere }
.card { background: var(--card); border-radius: .75rem; padding: 1.25rem }
h1 { font-size: 1.375rem; line-height: 1.25; margin: 0 0 .75rem }
h2 { font-size: 1.0625rem; margin: 1.25rem 0 .5rem }
label { display: block; margin: .75rem 0 .25rem; font-weight: 600 }
input:not([type=checkbox]) { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .375rem }
button { width: 100%; min-height: 2.75rem; margin-top: 1rem; padding: .5rem 1rem; font: inherit; font-weight: 600; border: 1px solid var(--act); border-radius: .375rem; background: var(--act); color: var(--on-act); cursor: pointer }
button.quiet { background: transparent; color: var(--act) }
a { color: var(--act) }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px }
.scopes { list-style: none; margin: 0; padding: 0 }
.scopes li { padding: .25rem 0 }
.scopes label { display: flex; gap: .75rem; align-items: flex-start; margin: 0; min-height: 2.75rem; padding: .5rem 0; font-weight: 400 }
.scopes input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0 }
.mark { display: inline-block; margin-left: .375rem; padding: 0 .375rem; border-radius: .25rem; background: var(--soft); font-size: .8125rem; font-weight: 600 }
.alert { border-left: 4px solid var(--bad); padding: .5rem .75rem; margin: 0 0 1rem; background: var(--soft) }
.alert a { color: var(--bad) }
.note { font-size: .9375rem }
`.trim();
