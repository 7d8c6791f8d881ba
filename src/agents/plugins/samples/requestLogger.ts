/** Writes a line for each request and its end. */
import type { Sample } from "./Sample.ts"

export const requestLogger: Sample = {
  manifest: {
    name: "request-logger",
    version: "1.0.0",
    description: "Writes a line for each request, and one for its end with tokens, cost and time.",
    author: "gateway",
    license: "MIT",
    tags: ["log"],
    main: "index.js",
    hooks: { onModelSelect: true, onStreamEnd: true, onResponse: true, onProviderError: true, onError: true },
    configSchema: {
      level: {
        type: "select",
        enum: ["debug", "info"],
        default: "info",
        description: "Level of lines about requests that went well."
      },
      headers: { type: "string", default: "user-agent", description: "Headers to write, with commas between them." }
    }
  },
  files: {
    "index.js": `import { definePlugin } from "gateway/plugin"

const headersOf = ({ config, headers }) =>
  String(config.headers ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => headers[name] !== undefined)
    .map((name) => \` \${name}="\${headers[name]}"\`)
    .join("")

const write = (context, text) => {
  const line = \`\${context.requestId} \${text}\`
  if (context.config.level === "debug") console.debug(line)
  else console.info(line)
}

const ended = (context, { costUsd, latencyMs, tokens }, how) =>
  write(context, \`\${how}: \${tokens.in} tokens in, \${tokens.out} out, \${costUsd} USD, \${latencyMs} ms\`)

export default definePlugin({
  name: "request-logger",
  onModelSelect: (context, { chosen, strategy }) =>
    write(
      context,
      \`\${context.endpoint} \${context.model} -> \${chosen === null ? "nothing" : \`\${chosen.provider}/\${chosen.model}\`} (\${strategy})\${headersOf(context)}\`
    ),
  onResponse: (context, payload) => {
    if (!payload.streamed) ended(context, payload, \`answered with \${payload.status}\`)
  },
  onStreamEnd: (context, payload) => ended(context, payload, payload.outcome),
  onProviderError: (context, { attempt, model, provider, reason, status }) =>
    console.warn(\`\${context.requestId} attempt \${attempt} at \${provider}/\${model} failed: \${reason} (\${status ?? "no answer"})\`),
  onError: (context, { code, message, status }) => console.error(\`\${context.requestId} \${status} \${code}: \${message}\`)
})
`
  },
  integrity: "sha256-3J9QbkZZiJYCCRgKd18PRELwMAkJy7R/g6FRcy4/7NY="
}
