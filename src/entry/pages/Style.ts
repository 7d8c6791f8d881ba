/** The style of the pages for people. */
export const style = `:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { margin: 0; }
.text { max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
.text h1 { font-size: 1.5rem; }
.text code { font: 0.9em ui-monospace, monospace; }
.text dt { font-weight: 600; margin-top: 0.75rem; }
.text dd { margin: 0; }
.bar { display: flex; gap: 1.5rem; padding: 0.75rem 1rem; border-bottom: 1px solid #8884; }
`
