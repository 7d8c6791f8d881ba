/** The files that `gateway plugin new` writes: a plugin that works, its types, and a test that passes. Nothing is downloaded. */
import { version as gatewayVersion } from "../../../platform/Version.ts"
import { declarations } from "./Declarations.ts"

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const code = (name: string): string => `import { addMetadata, blockRequest, definePlugin } from "gateway/plugin"

export default definePlugin({
  name: ${JSON.stringify(name)},

  // Called for every request, before its model is chosen.
  onRequest: (context) => {
    console.info(\`\${context.endpoint} \${context.model}\`)
    const text = JSON.stringify(context.body)
    if (context.config.refuse && text.includes(context.config.refuse)) {
      return blockRequest({ status: 403, error: { message: "This request is not allowed here.", code: "refused" } })
    }
    return addMetadata({ seenBy: ${JSON.stringify(name)} })
  }
})
`

const chat = (content: string) => ({
  model: "openai/gpt-4o-mini",
  messages: [{ role: "user", content }]
})

const readme = (name: string): string => `# ${name}

A plugin of the gateway. \`plugin.json\` says what it listens to and asks for, \`index.js\` is what it does, \`tests\` are calls of it with what is expected.

    gateway plugin test .                  run the tests, in the same sandbox as the gateway
    gateway plugin install . --activate    put it into the running gateway
    gateway plugin logs ${name} --follow

After a change: \`gateway plugin install . --replace\`.
`

/** Makes the files by relative path. `name` is checked by the caller. */
export const projectFiles = (name: string): ReadonlyMap<string, string> => {
  const major = gatewayVersion.split(".").slice(0, 2).join(".")
  return new Map([
    [
      "plugin.json",
      json({
        name,
        version: "0.1.0",
        description: "Refuses requests that hold a word.",
        main: "index.js",
        hooks: { onRequest: true },
        requires: { permissions: [], gateway: `>=${major}.0` },
        configSchema: { refuse: { type: "string", default: "", description: "A word that is refused; empty: none." } }
      })
    ],
    ["index.js", code(name)],
    [
      "tests/passes.json",
      json({
        hook: "onRequest",
        context: { body: chat("Hello") },
        expect: { action: "none", metadata: { seenBy: name } }
      })
    ],
    [
      "tests/refuses.json",
      json({
        hook: "onRequest",
        config: { refuse: "secret" },
        context: { body: chat("a secret word") },
        expect: { action: "blocked", result: { status: 403 } }
      })
    ],
    ["gateway-plugin.d.ts", declarations()],
    [
      "jsconfig.json",
      json({
        compilerOptions: {
          checkJs: true,
          strict: true,
          noImplicitAny: false,
          module: "ES2022",
          target: "ES2022",
          lib: ["ES2023"]
        }
      })
    ],
    ["README.md", readme(name)]
  ])
}
