/** Workers whose rows cannot be put on a disk: clients are answered, nothing is spent twice or left out, and the log says why. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import * as SmallDisk from "../support/SmallDisk.ts"
import { adminKey, answered, ask, costUsd, manage, partsOf, provider, until } from "./processes.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, serve } = program()
const upstream = provider()

const workersOf = (server: Serving): ReadonlyArray<number> =>
  partsOf(server.process.pid ?? 0)
    .filter(({ role }) => role === "worker")
    .map(({ pid }) => pid)

/** Everything that a server has written. */
const logOf = ({ process }: Serving): (() => string) => {
  let text = ""
  for (const stream of [process.stdout, process.stderr]) stream?.on("data", (part) => void (text += String(part)))
  return () => text
}

const answers = (server: Serving, count: number, secret: string | null = null): Promise<ReadonlyArray<number>> =>
  Promise.all(Array.from({ length: count }, () => ask(server, secret)))

const started = Effect.fnUntraced(function* (DATA_DIR: string) {
  const server = yield* Effect.promise(() => serve({ DATA_DIR, GATEWAY_ADMIN_KEY: adminKey }, "--workers", "2"))
  yield* Effect.promise(() => manage(server, "POST", "/api/providers", upstream.connection()))
  const made = (yield* Effect.promise(() => manage(server, "POST", "/api/keys", { name: "limited" }))) as {
    readonly key: { readonly id: string }
    readonly secret: string
  }
  yield* Effect.promise(() =>
    manage(server, "POST", "/api/usage/budget", { apiKeyId: made.key.id, dailyLimitUsd: costUsd * 1_000 })
  )
  const spentUsd = async (): Promise<number> => {
    const path = `/api/usage/budget?apiKeyId=${made.key.id}`
    return ((await manage(server, "GET", path)) as { readonly spentUsd: number }).spentUsd
  }
  return { server, log: logOf(server), secret: made.secret, spentUsd }
})

/** Writes a file until there is no space. */
const fill = (file: string): void => {
  const descriptor = openSync(file, "w")
  try {
    for (const size of [1_048_576, 4_096, 1]) {
      try {
        for (;;) writeSync(descriptor, Buffer.alloc(size))
      } catch (error) {
        assert.strictEqual((error as NodeJS.ErrnoException).code, "ENOSPC")
      }
    }
  } finally {
    closeSync(descriptor)
  }
}

/** Waits until so many calls are booked, and no more. */
const isBooked = async (spentUsd: () => Promise<number>, calls: number): Promise<void> => {
  await until(async () => (await spentUsd()) >= costUsd * calls - 1e-12, `${calls} calls are booked`)
  assert.approximately(await spentUsd(), costUsd * calls, 1e-12)
}

describe.skipIf(process.platform !== "linux")("workers", () => {
  it.scopedLive(
    "of which one cannot write its rows answer as before, and each answer has its row",
    () =>
      Effect.gen(function* () {
        const { log, secret, server, spentUsd } = yield* started(dataDir())
        const [one = -1] = workersOf(server)
        // Sockets and pipes are no files: what this process does for its clients is untouched.
        const limitFile = (bytes: string): void =>
          void execFileSync("prlimit", ["--pid", String(one), `--fsize=${bytes}:unlimited`])
        limitFile("0")
        yield* Effect.promise(async () => {
          for (let round = 0; round < 5; round++)
            assert.deepStrictEqual(await answers(server, 40, secret), Array(40).fill(200))
          await isBooked(spentUsd, 200)
          await until(async () => (await answered(server)) === 200, "each answer has a row")
          assert.match(log(), /could not be put on file: EFBIG/)
          assert.lengthOf(workersOf(server), 2)
          limitFile("unlimited")
          assert.deepStrictEqual(await answers(server, 40, secret), Array(40).fill(200))
          await isBooked(spentUsd, 240)
          await until(() => log().includes("Usage rows are written again."), "the log says that it is over")
          assert.strictEqual(await server.stop("SIGTERM"), 0)
        })
      }),
    240_000
  )

  it.scopedLive(
    "over a full disk keep their rows until there is space, and say why",
    (context) =>
      Effect.gen(function* () {
        const folder = dataDir()
        const isMounted = yield* SmallDisk.mounted(folder, 65_536)
        if (!isMounted) return context.skip("needs a user who may mount a small disk (root)")
        const { log, secret, server, spentUsd } = yield* started(folder)
        const filling = join(folder, "filling")
        yield* Effect.promise(async () => {
          assert.deepStrictEqual(await answers(server, 20, secret), Array(20).fill(200))
          fill(filling)
          for (let round = 0; round < 5; round++)
            assert.deepStrictEqual(await answers(server, 40, secret), Array(40).fill(200))
          await until(
            () => /Usage rows cannot be brought into the database: [^"]*database or disk is full/.test(log()),
            "the log of a worker has the owner's reason"
          )
          assert.notInclude(log(), "is not there")
          rmSync(filling)
          await isBooked(spentUsd, 220)
          await until(async () => (await answered(server)) === 220, "each answer has a row")
          assert.strictEqual(await server.stop("SIGTERM"), 0)
        })
      }),
    240_000
  )
})
