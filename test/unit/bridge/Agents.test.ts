import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { agents } from "../../../src/agents/bridge/agents/Agents.ts"

describe("the page about agents", () => {
  it("has a row for each, with what was seen of it and what was tried", () => {
    const page = readFileSync(new URL("../../../docs/agent-bridge.md", import.meta.url), "utf8")
    const rows = page
      .split("\n")
      .map((line) => line.split("|").map((cell) => cell.trim()))
      .filter(([, name = ""]) => /\(`[a-z-]+`\)$/.test(name))
    assert.deepStrictEqual(
      rows.map(([, name, viability]) => [name, viability]),
      agents.map(({ id, name, viability }) => [`${name} (\`${id}\`)`, viability])
    )
    for (const [, name, , hosts = "", tried = ""] of rows) {
      const agent = agents.find(({ id }) => name?.includes(`\`${id}\``))
      assert.include(hosts, agent?.hosts[0] ?? "?")
      assert.isAbove(tried.length, 40)
    }
  })
})
