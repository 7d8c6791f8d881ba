/**
 * Uploads survive `kill -9`, whenever it comes: after the restart there is no body without a row, no row without a body, and nothing that
 * was answered is lost. `KILL_ROUNDS` sets how often the program is killed at random.
 */
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import { createHash, randomBytes } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import { eventually } from "../../support/eventually.ts"
import * as Program from "../../support/Program.ts"
import { isOverPostgres, ofSqlite } from "../../support/postgres/Programs.ts"

const rounds = Number(process.env["KILL_ROUNDS"] ?? 3)
const patienceMs = 60_000
const roundMs = 20_000
const start = (folder?: string) => Program.start({}, folder)

const boundary = "gateway-of-the-tests"
const head = [
  `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n`,
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`
].join("")
const tail = `\r\n--${boundary}--\r\n`

/** An upload that the test writes piece by piece. `answered` is null when the program was gone before its answer. */
const upload = (program: Program.Program) => {
  const call = request(`${program.url}/v1/files`, {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` }
  })
  const answered = new Promise<{ readonly id: string } | null>((resolve) => {
    call.on("error", () => resolve(null))
    call.on("response", (response) => {
      let text = ""
      response.on("data", (part) => (text += String(part)))
      response.on("close", () => resolve(response.complete && response.statusCode === 200 ? JSON.parse(text) : null))
    })
  })
  call.write(head)
  return { write: (bytes: Buffer) => void call.write(bytes), finish: () => void call.end(tail), answered }
}

const put = (program: Program.Program, bytes: Buffer) => {
  const { answered, finish, write } = upload(program)
  write(bytes)
  finish()
  return answered
}

const call = async (program: Program.Program, method: string, path: string) => {
  const response = await fetch(program.url + path, { method })
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
}

const listed = async (program: Program.Program): Promise<ReadonlyArray<string>> =>
  JSON.parse((await call(program, "GET", "/v1/files")).bytes.toString()).data.map(
    ({ id }: { readonly id: string }) => id
  )

const onDisk = ({ dataDir }: Program.Program): ReadonlyArray<string> => readdirSync(join(dataDir, "files")).toSorted()

const kill = async (program: Program.Program): Promise<void> => {
  program.signal("SIGKILL")
  await program.ended
}

/** Every body has a row and every row a body, and nothing is unfinished. */
const assertPaired = async (program: Program.Program): Promise<void> =>
  assert.deepStrictEqual(onDisk(program), (await listed(program)).toSorted())

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

describe("killed", () => {
  it.scopedLive(
    "in the middle of an upload, it keeps nothing of it and all that was there",
    () =>
      Effect.gen(function* () {
        const program = yield* start()
        const kept = yield* Effect.promise(() => put(program, randomBytes(1_000)))
        const half = upload(program)
        half.write(randomBytes(3_000_000))
        yield* Effect.promise(async () => {
          await eventually(
            "the unfinished body",
            () => onDisk(program),
            (names) => names.some((name) => name.endsWith(".part"))
          )
          await kill(program)
          assert.isNull(await half.answered)
          assert.lengthOf(onDisk(program), 2)
        })
        const again = yield* start(program.dataDir)
        yield* Effect.promise(async () => {
          assert.deepStrictEqual(onDisk(again), [kept?.id ?? ""])
          await assertPaired(again)
        })
        yield* again.stop
      }),
    patienceMs
  )

  it.scopedLive.skipIf(isOverPostgres)(
    `when a body has its name and no row yet, it keeps neither${ofSqlite}`,
    () =>
      Effect.gen(function* () {
        const program = yield* start()
        const kept = yield* Effect.promise(() => put(program, randomBytes(1_000)))
        // Whoever holds the write lock keeps the row from being written.
        const database = new Database(join(program.dataDir, "gateway.sqlite"))
        database.exec("BEGIN IMMEDIATE")
        const answered = put(program, randomBytes(1_000))
        yield* Effect.promise(async () => {
          await eventually(
            "the body under its name",
            () => onDisk(program),
            (names) => names.length === 2 && names.every((name) => !name.endsWith(".part"))
          )
          await kill(program)
          database.exec("ROLLBACK")
          database.close()
          assert.isNull(await answered)
          assert.lengthOf(onDisk(program), 2)
        })
        const again = yield* start(program.dataDir)
        yield* Effect.promise(async () => {
          assert.deepStrictEqual(onDisk(again), [kept?.id ?? ""])
          await assertPaired(again)
        })
        yield* again.stop
      }),
    patienceMs
  )

  it.scopedLive(
    "at any moment of many uploads and deletions, it has what it answered",
    () =>
      Effect.gen(function* () {
        const random = makeSeededRandom(11)
        let program = yield* start()
        const kept = new Map<string, string>()
        for (let round = 0; round < rounds; round += 1) {
          const running = program
          const [doomed = null] = kept.keys()
          let gone: string | null = null
          const after = 1 + random.below(12)
          yield* Effect.promise(async () => {
            let ends = 0
            let killed: Promise<void> | null = null
            const counted = <A>(value: A): A => {
              ends += 1
              if (ends >= after) killed ??= kill(running)
              return value
            }
            const puts = Array.from({ length: 16 }, async () => {
              const bytes = randomBytes(1 + random.below(400_000))
              const file = counted(await put(running, bytes))
              return file === null ? null : ([file.id, sha256(bytes)] as const)
            })
            const removal =
              doomed === null
                ? Promise.resolve(false)
                : call(running, "DELETE", `/v1/files/${doomed}`).then(
                    () => true,
                    () => false
                  )
            for (const made of await Promise.all(puts)) if (made !== null) kept.set(...made)
            await (killed ?? kill(running))
            // What was not answered may be done or not.
            if (await removal) gone = doomed
            if (doomed !== null) kept.delete(doomed)
          })
          program = yield* start(running.dataDir)
          const again = program
          yield* Effect.promise(async () => {
            await assertPaired(again)
            const ids = new Set(await listed(again))
            if (gone !== null) assert.isFalse(ids.has(gone))
            for (const [id, hash] of kept) {
              assert.isTrue(ids.has(id), id)
              assert.strictEqual(sha256(readFileSync(join(again.dataDir, "files", id))), hash)
            }
          })
        }
        assert.isAbove(kept.size, 0)
        yield* program.stop
      }),
    rounds * roundMs + patienceMs
  )
})
