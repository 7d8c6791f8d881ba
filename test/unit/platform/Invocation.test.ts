import { assert, describe, it } from "@effect/vitest"
import { commandIn, shellWord } from "../../../src/platform/Invocation.ts"

const files: Readonly<Record<string, string>> = {
  "/people/ann/gateway/bin/gateway": "/people/ann/gateway/bin/gateway",
  "/usr/local/bin/gateway": "/opt/lib/gateway/bin/gateway",
  "/opt/lib/gateway/bin/gateway": "/opt/lib/gateway/bin/gateway",
  "/srv/x y/bin/gateway": "/srv/x y/bin/gateway"
}
const command = (script: string | null, path = "/usr/bin:/usr/local/bin") =>
  commandIn({ script, path, home: "/people/ann", real: (file) => files[file] ?? null })

describe("what to type for this program", () => {
  it("is its name where a shell finds it by that", () => {
    assert.strictEqual(command("/usr/local/bin/gateway"), "gateway")
    assert.strictEqual(command("/opt/lib/gateway/bin/gateway"), "gateway")
    assert.strictEqual(command(null), "gateway")
  })

  it("is the path it was started by where the name finds nothing, or another one", () => {
    assert.strictEqual(command("/people/ann/gateway/bin/gateway", "/usr/bin"), "~/gateway/bin/gateway")
    assert.strictEqual(command("/people/ann/gateway/bin/gateway"), "~/gateway/bin/gateway")
    assert.strictEqual(command("/srv/x y/bin/gateway", ""), "'/srv/x y/bin/gateway'")
    assert.strictEqual(command("/people/ann/gateway/dist/main.cjs", ""), "node ~/gateway/dist/main.cjs")
  })

  it("is quoted so that a shell takes it as it stands", () => {
    assert.strictEqual(shellWord("/a/it's", ""), `'/a/it'\\''s'`)
    assert.strictEqual(shellWord("/people/ann/a b", "/people/ann"), "~/'a b'")
    assert.strictEqual(shellWord("/people/anna/x", "/people/ann"), "/people/anna/x")
  })
})
