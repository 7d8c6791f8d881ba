/** The page at `/` for people with a browser: that it runs, which version, and where to go. It says nothing that the JSON does not say to all. */
import { version } from "../../platform/Version.ts"
import { addressOf, iconLink } from "./Viewer.ts"

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

/** Text as it may be in a page, and in an attribute between double quotes. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (letter) => escapes[letter] ?? "")

/** Checks whether a client asks for a page: browsers name the type, programs do not. */
export const wantsPage = (accept: string | undefined): boolean =>
  /(?:^|,)\s*text\/html\s*(?:[,;]|$)/i.test(accept ?? "")

export const rootPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gateway</title>
${iconLink}
<link rel="stylesheet" href="${addressOf("page.css")}">
</head>
<body>
<main class="text">
<h1>Gateway ${escaped(version)} is running.</h1>
<p>One address for all AI providers. Point your client at this one:</p>
<dl>
<dt>OpenAI clients</dt><dd>this address with <code>/v1</code></dd>
<dt>Anthropic and Ollama clients</dt><dd>this address as it is</dd>
<dt>Gemini clients</dt><dd>this address as it is; they add <code>/v1beta</code></dd>
</dl>
<p>Model ids are <code>&lt;provider&gt;/&lt;model&gt;</code>, names of combos, and <code>auto</code>.</p>
<p>In a terminal: <code>gateway provider add</code> connects a provider, <code>gateway --help</code> lists all commands.</p>
<p><a href="/docs">API documentation</a> · <a href="/openapi.json">openapi.json</a> · <a href="/api/health/ping">health</a></p>
</main>
</body>
</html>
`
