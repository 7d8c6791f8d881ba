/** The page at `/docs` and the files it loads: a viewer of `/openapi.json`, kept in `vendor/swagger-ui`. */
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { brotliDecompressSync } from "node:zlib"
import { style } from "./Style.ts"

export interface ViewerFile {
  readonly contentType: string
  /** Tag of the content, in the address and as ETag: another content has another one. */
  readonly tag: string
  /** The content of a small file, or where it is. */
  readonly content: string | URL
}

const tagOf = (content: string): string => createHash("sha256").update(content).digest("hex").slice(0, 16)

const small = (contentType: string, content: string): ViewerFile => ({ contentType, tag: tagOf(content), content })

const script = "text/javascript; charset=utf-8"
const stylesheet = "text/css; charset=utf-8"

/** Version of what is in `vendor/swagger-ui`. */
export const viewerVersion = "5.35.0"

/** Neither asks a validator elsewhere, nor takes another document from the address of the page. */
const start = `"use strict"
const documentUrl = new URL("../openapi.json", document.currentScript.src).href
window.addEventListener("load", () => {
  window.SwaggerUIBundle({
    url: documentUrl,
    dom_id: "#viewer",
    validatorUrl: null,
    queryConfigEnabled: false,
    persistAuthorization: false,
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: 0,
    filter: true
  })
})
`

/** Icon of the page: without one a browser asks for a file that is not there. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 15V6a6 6 0 0 1 12 0v9h-3V6a3 3 0 0 0-6 0v9z" fill="#46a"/></svg>
`

/** Files by name below `/docs/`. */
export const viewerFiles: Readonly<Record<string, ViewerFile>> = {
  "viewer.js": {
    contentType: script,
    tag: viewerVersion,
    content: new URL("../../../vendor/swagger-ui/swagger-ui-bundle.js", import.meta.url)
  },
  "viewer.css": {
    contentType: stylesheet,
    tag: viewerVersion,
    content: new URL("../../../vendor/swagger-ui/swagger-ui.css", import.meta.url)
  },
  "start.js": small(script, start),
  "page.css": small(stylesheet, style),
  "icon.svg": small("image/svg+xml", icon)
}

const unpacked = new Map<URL, string>()

/** The text of a file that the build has kept in its smallest form only, beside its place. */
const textOf = (place: URL): string => {
  const known = unpacked.get(place)
  if (known !== undefined) return known
  const text = brotliDecompressSync(readFileSync(`${fileURLToPath(place)}.br`)).toString()
  unpacked.set(place, text)
  return text
}

const readable = (file: ViewerFile): ViewerFile =>
  typeof file.content === "string" || existsSync(file.content) ? file : { ...file, content: textOf(file.content) }

/** The file of a name; null when there is none. Names are case-sensitive and have no path in them. */
export const viewerFile = (name: string): ViewerFile | null => {
  const file = Object.hasOwn(viewerFiles, name) ? viewerFiles[name] : undefined
  return file === undefined ? null : readable(file)
}

/** The address of a file, which changes with its content. */
export const addressOf = (name: string): string => `/docs/${name}?v=${viewerFiles[name]?.tag ?? ""}`

export const iconLink = `<link rel="icon" type="image/svg+xml" href="${addressOf("icon.svg")}">`

export const viewerPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gateway API</title>
${iconLink}
<link rel="stylesheet" href="${addressOf("viewer.css")}">
<link rel="stylesheet" href="${addressOf("page.css")}">
</head>
<body>
<header class="bar"><a href="/">Gateway</a> <a href="/openapi.json">openapi.json</a></header>
<div id="viewer"></div>
<noscript><p class="text">This page needs JavaScript. The document itself is <a href="/openapi.json">openapi.json</a>.</p></noscript>
<script src="${addressOf("viewer.js")}"></script>
<script src="${addressOf("start.js")}"></script>
</body>
</html>
`
