/** A replaced secret over a restart of the gateway. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as TestGateway from "../../support/TestGateway.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-rotation-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

const environment = new Map([["REQUIRE_API_KEY", "true"]])

describe("a rotated key", () => {
  it.scopedLive("is known by the old secret after a restart until the overlap ends, and by no older one", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const statuses = (gateway: TestGateway.TestGateway, secrets: ReadonlyArray<string>) =>
        Promise.all(
          secrets.map(async (secret) => {
            const answer = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
            return answer.status
          })
        )
      const secrets = yield* Effect.scoped(
        Effect.gen(function* () {
          const gateway = yield* TestGateway.start({ dataDir, environment })
          return yield* Effect.promise(async () => {
            const { key, secret: first } = await gateway.manage("POST", "/api/keys", { name: "k" })
            const rotate = async (overlapSeconds: number): Promise<string> =>
              (await gateway.manage("POST", `/api/keys/${key.id}/rotate`, { overlapSeconds })).secret
            const all = [first, await rotate(0), await rotate(3_600)]
            assert.deepStrictEqual(await statuses(gateway, all), [401, 200, 200])
            return all
          })
        })
      )
      const again = yield* TestGateway.start({ dataDir, environment })
      assert.deepStrictEqual(yield* Effect.promise(() => statuses(again, secrets)), [401, 200, 200])
    })
  )
})
