/** Where a command works, and that nothing is written beside a gateway that is starting. */
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exclusively, FolderInUse, locally } from "../../../src/cli/local/localServices.ts"
import { gatewayUrl, here, atPlace } from "../../../src/cli/gateway/Target.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as OwnerFile from "../../../src/platform/files/OwnerFile.ts"
import * as DataLock from "../../../src/store/DataLock.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-target-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** What answers at an address of this machine. */
const listener = Effect.acquireRelease(
  Effect.async<ReturnType<typeof createServer>>((resume) => {
    const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1", () =>
      resume(Effect.succeed(server))
    )
  }),
  (server) => Effect.sync(() => void server.close())
).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

const at =
  (dataDir: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withConfigProvider(work, ConfigProvider.fromMap(new Map([["DATA_DIR", dataDir]])))

describe("atPlace", () => {
  it.scopedLive("asks the gateway that holds the data folder as soon as it listens", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const url = yield* listener
      const listens = OwnerFile.write(dataDir, { url, pid: process.pid, token: Redacted.make("a token") })
      const asked = yield* atPlace(here, {
        gateway: (to) => Effect.succeed(`${to.url} ${Redacted.value(to.apiKey ?? Redacted.make(""))}`),
        // It listens only after the folder was found in use.
        folder: Effect.zipRight(Effect.orDie(listens), Effect.fail(new FolderInUse()))
      }).pipe(at(dataDir))
      assert.strictEqual(asked, `${url} a token`)
    })
  )

  it.scopedLive("works on the data folder where no gateway runs", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const done = yield* atPlace(here, {
        gateway: () => Effect.succeed("gateway"),
        folder: Effect.succeed("folder")
      }).pipe(at(dataDir))
      assert.strictEqual(done, "folder")
    })
  )
})

describe("work on the data folder", () => {
  it.scopedLive(
    "changes nothing beside a gateway that holds it, also before it listens; reading goes on",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* folder
        let isBegun = false
        const change = exclusively(() => Effect.sync(() => void (isBegun = true))).pipe(at(dataDir))
        yield* change
        assert.isTrue(isBegun)
        isBegun = false
        const held = DataLock.layer.pipe(Layer.provide(AppConfig.layerOf({ dataDir })))
        const refused = yield* Effect.flip(change).pipe(Effect.provide(held))
        assert.strictEqual(refused._tag, "FolderInUse")
        assert.isFalse(isBegun)
        const listed = yield* locally((room) => Effect.flatMap(room.Connections, ({ list }) => list)).pipe(
          at(dataDir),
          Effect.provide(held)
        )
        assert.isArray(listed)
      }),
    // It loads the whole of the store.
    60_000
  )
})

describe("gatewayUrl", () => {
  it("takes http and https addresses, without the slash at their end", () => {
    assert.strictEqual(gatewayUrl("https://gateway.example/x/"), "https://gateway.example/x")
    for (const wrong of ["gateway.example", "ftp://gateway.example", "", "javascript:alert(1)"]) {
      assert.isNull(gatewayUrl(wrong), wrong)
    }
  })
})
