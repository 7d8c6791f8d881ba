import { assert, it } from "@effect/vitest"
import { isInRange, isNewer } from "../../../src/kernel/text/Versions.ts"

it("orders versions as Semantic Versioning does", () => {
  const inOrder = [
    "0.9.9",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.10.0",
    "2.0.0"
  ]
  for (const [at, version] of inOrder.entries()) {
    for (const [than, other] of inOrder.entries()) assert.strictEqual(isNewer(version, other), at > than)
  }
})

it("takes a build and a leading v for nothing", () => {
  assert.isFalse(isNewer("v1.2.3+build.5", "1.2.3"))
  assert.isTrue(isNewer("v1.2.4", "1.2.3"))
})

it("reads versions of fewer numbers, and takes none that cannot be read for newer", () => {
  assert.isTrue(isNewer("2026.1", "0.1.0"))
  assert.isFalse(isNewer("latest", "0.1.0"))
  assert.isFalse(isNewer("", "0.1.0"))
})

it("reads ranges within a bound, and in time that the bound holds", () => {
  assert.isTrue(isInRange("1.5.0", "1.2 - 2.0"))
  assert.isNull(isInRange("1.0.0", ">=1 ".repeat(100)))
  assert.isNull(isInRange("1.0.0", `${" ".repeat(190)}x.y`))
  assert.isNotNull(isInRange("1.0.0", "*||".repeat(60)))
})
