/** The page that a browser ends up on after a sign-in at a provider. Its address holds a code, so that it is not cached and sends no referrer. */
import { pageHeaders, rootPolicy } from "./PageHeaders.ts"
import { escaped } from "./Root.ts"
import { addressOf } from "./Viewer.ts"

/** A page of a title and one sentence; both are text. `next`: path of the gateway, or address, that the browser goes on to at once. */
export const signedInPage = (title: string, sentence: string, next: string | null = null): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>${next === null ? "" : `\n<meta http-equiv="refresh" content="0; url=${escaped(next)}">`}
<link rel="stylesheet" href="${addressOf("page.css")}">
</head>
<body>
<main class="text">
<h1>${escaped(title)}</h1>
<p>${next === null ? escaped(sentence) : `<a href="${escaped(next)}">${escaped(sentence)}</a>`}</p>
</main>
</body>
</html>
`

export const signedInHeaders: Readonly<Record<string, string>> = {
  ...pageHeaders(rootPolicy),
  "Cache-Control": "no-store"
}
