import { assert, describe, it } from "@effect/vitest"
import { filesProblems, integrityOf, withManifest } from "../../../../src/agents/plugins/files/PluginFiles.ts"
import { readManifest } from "../../../../src/agents/plugins/manifest/Manifest.ts"
import { samples } from "../../../../src/agents/plugins/samples/index.ts"

describe.each(samples.map((sample) => [sample.manifest.name, sample] as const))(
  "%s",
  (_, { files, integrity, manifest }) => {
    it("has the hash that is pinned", () => {
      assert.strictEqual(integrityOf(withManifest(new Map(Object.entries(files)), manifest)), integrity)
    })

    it("can be installed", () => {
      const { manifest: read, problems, warnings } = readManifest(manifest, "99.0.0")
      assert.deepStrictEqual([problems, warnings], [[], []])
      assert.deepStrictEqual(filesProblems(new Map(Object.entries(files)), read?.main ?? null), [])
    })
  }
)
