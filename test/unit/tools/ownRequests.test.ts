import { assert, describe, it } from "@effect/vitest"
import { find } from "../../../src/plane/providers/Registry.ts"
import { ownRequests, toolOf } from "../../../src/agents/tools/catalogue/OwnRequests.ts"
import { tools } from "../../../src/agents/tools/catalogue/Tools.ts"

/** What each tool sends as its user agent, and in which wire. */
const agents = {
  claude: [["claude-cli/2.0.14 (external, cli)", "claude-cli/1.0.119 (external, sdk-ts)"], ["messages"]],
  codex: [
    [
      "codex_cli_rs/0.58.0 (Ubuntu 24.4.0; x86_64) xterm-256color",
      "codex_vscode/0.60.1 (Mac OS 26.0.1; arm64) vscode",
      "codex_exec/0.72.0 (Windows 10.0.26200; x86_64) unknown",
      "codex-tui/0.90.0 (Debian 12; x86_64) tmux"
    ],
    ["responses"]
  ],
  copilot: [["GitHubCopilotChat/0.36.2"], ["chat", "responses"]],
  gemini: [["GeminiCLI/0.1.9 (linux; x64)", "GeminiCLI/0.24.0/gemini-2.5-pro (darwin; arm64)"], ["gemini"]],
  kilo: [["Kilo-Code/4.100.0"], ["chat"]],
  opencode: [["opencode/1.1.20 ai-sdk/provider-utils/3.0.20 runtime/bun/1.3.5"], ["chat", "responses", "messages"]],
  qwen: [["QwenCode/0.10.3 (linux; x64)"], ["chat"]]
} as const

const credentials = [
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "x-goog-api-key",
  "api-key",
  "cookie",
  "chatgpt-account-id",
  "x-kilocode-organizationid",
  "x-forwarded-for",
  "host",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "connection",
  "x-gateway-mode"
]

describe("requests of coding tools to their own providers", () => {
  it("are told of for every tool of the catalogue, and for no other", () =>
    assert.deepStrictEqual(Object.keys(ownRequests).toSorted(), tools.map(({ id }) => id).toSorted()))

  for (const [id, own] of Object.entries(ownRequests)) {
    if (own === null) continue
    it(`${id}: its providers are in the registry and speak its wire, its headers hold no credential`, () => {
      assert.property(agents, id)
      for (const provider of own.providers) {
        const spec = find(provider)
        assert.strictEqual(spec?.id, provider)
        assert.isTrue(
          own.wires.some((wire) => spec?.wires.includes(wire)),
          provider
        )
      }
      assert.isTrue(own.headers.test("user-agent"))
      for (const name of credentials) assert.isFalse(own.headers.test(name), name)
    })
  }

  for (const [id, [examples, wires]] of Object.entries(agents)) {
    it(`${id}: it is told by its user agent, in its own wires only`, () => {
      for (const example of examples) {
        for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const) {
          const isOwn = (wires as ReadonlyArray<string>).includes(wire)
          assert.strictEqual(toolOf(example, wire), isOwn ? ownRequests[id] : null, `${example} on ${wire}`)
          for (const other of [
            `x ${example}`,
            example.toUpperCase(),
            example.split("/")[0] ?? "",
            example + "x".repeat(512)
          ]) {
            assert.isNull(toolOf(other, wire), `${other.slice(0, 60)} on ${wire}`)
          }
        }
      }
    })
  }
})
