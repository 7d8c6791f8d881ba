/** The life of plugins survives `kill -9` at any moment: a gateway that starts again finds a state of docs/plugins.md. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import * as Program from "../../support/Program.ts"

const adminKey = "admin-key-of-the-program-tests"
/** 50 by `npm run faults`. */
const rounds = process.env["FAULTS"] === "all" ? 50 : 6

const manifest = (version: number) => ({
  name: "one",
  version: `${version}.0.0`,
  main: "index.js",
  hooks: { onRequest: true },
  requires: { permissions: ["file-write"] },
  configSchema: { count: { type: "number", default: 0 } }
})
const files = (version: number) => ({
  "index.js": `import { definePlugin } from "gateway/plugin"\nexport default definePlugin({ name: "one", onRequest: () => {} })\n// ${version}\n`,
  "lib/data.js": `// ${"x".repeat(200_000)}`
})

const call = async (url: string, method: string, path: string, body?: unknown) => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  return { status: response.status, body: text === "" ? null : JSON.parse(text) }
}

/** Goes on until the program is killed; how far it comes is up to the moment of that. */
const change = async (url: string, version: number): Promise<void> => {
  await call(url, "POST", "/api/plugins", { manifest: manifest(version), files: files(version), replace: true })
  await call(url, "POST", "/api/plugins/one/activate", { grant: ["file-write"] })
  await call(url, "PUT", "/api/plugins/one/config", { values: { count: version } })
  await call(url, "POST", "/api/plugins", { manifest: manifest(version + 1), files: files(version + 1), replace: true })
  await call(url, "POST", "/api/plugins/one/deactivate")
  await call(url, "DELETE", "/api/plugins/one")
}

it.scopedLive(
  `${rounds} rounds of install, activate, configure, replace and remove, killed at random moments`,
  () =>
    Effect.gen(function* () {
      const dataDir = yield* Program.dataFolder
      const random = makeSeededRandom(20)
      for (let round = 0; round < rounds; round += 1) {
        const program = yield* Program.start({ GATEWAY_ADMIN_KEY: adminKey }, dataDir)
        yield* Effect.promise(async () => {
          const { body } = await call(program.url, "GET", "/api/plugins")
          for (const plugin of body.plugins) {
            assert.include(["installed", "active", "inactive"], plugin.status, `round ${round}: ${plugin.lastError}`)
            assert.isNull(plugin.lastError)
          }
          const { body: scan } = await call(program.url, "POST", "/api/plugins/scan")
          assert.deepStrictEqual(
            scan.found.map((each: { name: string; status: string }) => [each.name, each.status]),
            body.plugins.map(({ name }: { name: string }) => [name, "installed"])
          )
          for (const folder of [".new", ".old"]) {
            const path = join(dataDir, "plugins", folder)
            if (body.plugins.length > 0 && existsSync(path)) assert.deepStrictEqual(readdirSync(path), [])
          }
          const changing = change(program.url, 2 * round + 1).catch(() => {})
          await new Promise((resolve) => setTimeout(resolve, Math.floor(random.next() * 900)))
          program.signal("SIGKILL")
          await Promise.all([program.ended, changing])
        })
      }
    }),
  600_000
)
