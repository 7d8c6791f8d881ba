import { assert, it } from "@effect/vitest"
import { compareVersions, isNewer } from "../../../src/kernel/text/Versions.ts"

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
  const shuffled = [...inOrder].reverse().sort(compareVersions)
  assert.deepStrictEqual(shuffled, inOrder)
})

it("takes a build and a leading v for nothing", () => {
  assert.isFalse(isNewer("v1.2.3+build.5", "1.2.3"))
  assert.isTrue(isNewer("v1.2.4", "1.2.3"))
})
