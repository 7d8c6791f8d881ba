/** The four events of a plugin's own life: when they come, with what, and what is there meanwhile. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pluginPayloads } from "../../../src/contract/domain/PluginPayload.ts"
import { eventually } from "../../support/eventually.ts"
import { linesOf, moduleOf, plugins } from "../../support/RealPlugins.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const manifest = {
  name: "living",
  version: "1.0.0",
  main: "index.js",
  hooks: { onInstall: true, onActivate: true, onDeactivate: true, onUninstall: true },
  requires: { permissions: ["file-read", "file-write"] }
}

const code = moduleOf(
  "living",
  `onInstall: (payload) => tell("onInstall", payload),
  onActivate: (payload) => tell("onActivate", payload),
  onDeactivate: (payload) => tell("onDeactivate", payload),
  onUninstall: async (payload) => {
    await fs.writeFile("last.json", JSON.stringify(payload))
    while (!(await fs.readdir()).includes("go")) await new Promise((resolve) => setTimeout(resolve, 20))
  }`,
  "const tell = (hook, payload) => console.info(JSON.stringify({ hook, payload, fs: typeof globalThis.fs }))"
)

it.scopedLive("a plugin is told of its installation without permissions, and of the rest of its life with them", () =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const gateway = yield* TestGateway.start({ dataDir })
    yield* Effect.promise(async () => {
      const told = async () =>
        (await linesOf(gateway, "living")).map((line) => {
          const { fs, hook, payload } = JSON.parse(line)
          const schema: Schema.Schema.AnyNoContext = pluginPayloads[hook as "onInstall"]
          Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(payload)
          assert.deepStrictEqual(payload, { name: "living", version: "1.0.0", manifest })
          return [hook, fs]
        })
      await gateway.manage("POST", plugins, { manifest, files: { "index.js": code } })
      const installed = ["onInstall", "undefined"]
      assert.deepStrictEqual(await told(), [installed])
      await gateway.manage("POST", `${plugins}/living/activate`, { grant: manifest.requires.permissions })
      const activated = ["onActivate", "object"]
      assert.deepStrictEqual(await told(), [installed, activated])
      await gateway.manage("POST", `${plugins}/living/deactivate`)
      assert.deepStrictEqual(await told(), [installed, activated, ["onDeactivate", "object"]])

      const data = join(dataDir, "plugin-data", "living")
      const removing = gateway.manage("DELETE", `${plugins}/living`)
      await eventually("its last words", () => existsSync(join(data, "last.json")), Boolean)
      assert.isTrue(existsSync(join(dataDir, "plugins", "living", "index.js")), "its files are still there")
      assert.strictEqual(JSON.parse(readFileSync(join(data, "last.json"), "utf8")).name, "living")
      writeFileSync(join(data, "go"), "")
      await removing
      assert.isFalse(existsSync(data))
      assert.isFalse(existsSync(join(dataDir, "plugins", "living")))
    })
  })
)
