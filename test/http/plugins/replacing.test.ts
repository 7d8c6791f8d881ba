/** A plugin that is replaced, deactivated or removed while it is asked: what is under way is still judged by it, and no other request. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { installPlugin, moduleOf, plugins } from "../../support/RealPlugins.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const judging = (code: string) => `onRequest: async ({ body }) => {
  if (body.user === "waits") {
    await fs.writeFile("begun", "")
    while (!(await fs.readdir()).includes("go")) await new Promise((resolve) => setTimeout(resolve, 40))
  }
  return blockRequest({ error: { message: "Refused", code: ${JSON.stringify(code)} } })
}`

const manifest = {
  hooks: { onRequest: true },
  requires: { permissions: ["file-read", "file-write"] },
  timeoutMs: 10_000
}

const setUp = (failClosed: boolean) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const gateway = yield* TestGateway.start({ dataDir })
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion()))
    yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, "chat")
      const grant = manifest.requires.permissions
      await installPlugin(gateway, "judge", { manifest: { ...manifest, failClosed }, members: judging("old"), grant })
    })
    const codeOf = async (user: string): Promise<string | undefined> => {
      const messages = [{ role: "user", content: "Hi" }]
      const response = await gateway.post("/v1/chat/completions", { model: "up/m", messages, user })
      return ((await response.json()) as { error?: { code: string } }).error?.code
    }
    const data = join(dataDir, "plugin-data", "judge")
    const waiting = async () => {
      const judged = codeOf("waits")
      await eventually("the plugin is asked", () => existsSync(join(data, "begun")), Boolean)
      // In an object, so that it is not waited for here.
      return { judged }
    }
    return { codeOf, data, gateway, goOn: () => writeFileSync(join(data, "go"), ""), upstream, waiting }
  })

describe("a request that waits for a plugin", () => {
  for (const failClosed of [false, true]) {
    it.scopedLive(`is judged by it${failClosed ? ", a guard," : ""} while another version comes in its place`, () =>
      Effect.flatMap(setUp(failClosed), ({ codeOf, gateway, goOn, upstream, waiting }) =>
        Effect.promise(async () => {
          const { judged } = await waiting()
          const replaced = gateway.manage("POST", plugins, {
            manifest: { name: "judge", version: "2.0.0", main: "index.js", ...manifest, failClosed },
            files: { "index.js": moduleOf("judge", judging("new")) },
            replace: true
          })
          await eventually(
            "the new version",
            () => codeOf("other"),
            (code) => code === "new"
          )
          goOn()
          assert.strictEqual(await judged, "old")
          await replaced
          assert.strictEqual(upstream.requests.length, 0)
        })
      )
    )

    it.scopedLive(`is judged by it${failClosed ? ", a guard," : ""} while it is deactivated`, () =>
      Effect.flatMap(setUp(failClosed), ({ codeOf, gateway, goOn, upstream, waiting }) =>
        Effect.promise(async () => {
          const { judged } = await waiting()
          // The answer does not wait for the call.
          const { plugin } = await gateway.manage("POST", `${plugins}/judge/deactivate`)
          assert.strictEqual(plugin.status, "inactive")
          assert.isUndefined(await codeOf("other"))
          assert.strictEqual(upstream.requests.length, 1)
          goOn()
          assert.strictEqual(await judged, "old")
          assert.strictEqual(upstream.requests.length, 1)
        })
      )
    )

    it.scopedLive(`is judged by it${failClosed ? ", a guard," : ""} before its files are removed`, () =>
      Effect.flatMap(setUp(failClosed), ({ codeOf, data, gateway, goOn, waiting }) =>
        Effect.promise(async () => {
          const { judged } = await waiting()
          const removed = gateway.manage("DELETE", `${plugins}/judge`)
          await eventually(
            "no plugin",
            () => codeOf("other"),
            (code) => code === undefined
          )
          assert.isTrue(existsSync(data), "its data are there while it is asked")
          goOn()
          assert.strictEqual(await judged, "old")
          await removed
          assert.isFalse(existsSync(data))
        })
      )
    )
  }
})
