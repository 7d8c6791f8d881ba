import { assert, it } from "@effect/vitest"
import { judge } from "../../../../src/cli/doctor/plugins.ts"

const plugin = { name: "one", status: "active", lastError: null, failClosed: false } as const

it.each([
  ["ok", []],
  ["ok", [plugin, { ...plugin, status: "inactive" as const }]],
  ["warn", [plugin, { ...plugin, name: "two", status: "error" as const, lastError: "its files were changed" }]],
  ["fail", [{ ...plugin, status: "error" as const, failClosed: true }]]
] as const)("%s for %j", (status, plugins) => {
  assert.strictEqual(judge(plugins).status, status)
})
