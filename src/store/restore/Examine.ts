/** Examines a file that is to take the place of the live database, without changing it. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Worker } from "node:worker_threads"
import { AppConfig } from "../../platform/AppConfig.ts"
import { type DatabaseHeader, headerOf, isCutShort } from "../engine/DatabaseHeader.ts"
import { masterKeyFile, onDisk } from "../DataFolder.ts"
import { refusedAt, type StoreFailure } from "../Errors.ts"
import * as MasterKey from "../secrets/MasterKey.ts"
import { migrations, versionOf } from "../migrations/index.ts"
import { canaryPlace, fromMasterKey, keyIdIn } from "../secrets/Secrets.ts"
import * as StretchedKey from "../secrets/StretchedKey.ts"
import { refused, type RestoreRefused } from "./Refusal.ts"
import { differenceOf, objectsOf, type SchemaObject } from "./Schema.ts"

interface Found {
  readonly verdict: string
  readonly version: number
  readonly objects: ReadonlyArray<SchemaObject>
  readonly canary: string | null
  readonly stretching: string | null
}

type Message = Found | { readonly error: { readonly code: string; readonly message: string } }

/** A file made to keep the check busy is given up after this. */
const patience = "10 minutes"

const check = (file: string): Effect.Effect<Message> =>
  Effect.async<Message>((resume) => {
    const worker = new Worker(new URL("./checkDatabase.mjs", import.meta.url), { workerData: { file } })
    const failed = (message: string) => resume(Effect.succeed({ error: { code: "", message } }))
    worker.once("message", (message: Message) => resume(Effect.succeed(message)))
    worker.once("error", (error) => failed(error.message))
    worker.once("exit", (code) => failed(`the check ended with ${code}`))
    return Effect.promise(() => worker.terminate())
  }).pipe(
    Effect.timeoutTo({
      duration: patience,
      onTimeout: () => ({ error: { code: "", message: "its check took too long" } }),
      onSuccess: (message: Message) => message
    })
  )

const notADatabase = refused("not_a_database", "The file is not a SQLite database.")

const headerAt = (file: string): Effect.Effect<DatabaseHeader, RestoreRefused | StoreFailure> =>
  Effect.gen(function* () {
    const header = yield* onDisk(file, () => headerOf(file))
    if (header === null) return yield* notADatabase
    if (yield* onDisk(file, () => isCutShort(file, header))) {
      return yield* refused(
        "database_cut_short",
        `The file ends before the ${header.expectedBytes} bytes that its header announces: copy it again, whole.`
      )
    }
    return header
  })

/** Names the key that a database was encrypted with, for people: the short id that every ciphertext has. */
const nameOfKey = (id: string | null): string => (id === null ? "another key" : `the key ${id}`)

/** Fails when this machine's key does not decrypt what is encrypted in it. */
const checkKey = ({ canary, stretching }: Found): Effect.Effect<void, RestoreRefused | StoreFailure, AppConfig> =>
  Effect.gen(function* () {
    if (canary === null) return
    const { dataDir, encryptionKey } = yield* AppConfig
    const master = yield* Effect.option(MasterKey.load({ dataDir, encryptionKey, mayCreate: false }))
    const isChosen = encryptionKey !== null
    const secrets =
      master._tag === "None"
        ? null
        : fromMasterKey(
            isChosen && stretching !== null
              ? yield* StretchedKey.stretch(master.value.key, stretching).pipe(
                  Effect.catchAllDefect(() =>
                    refused("database_damaged", "Its note of the encryption key cannot be read.")
                  )
                )
              : master.value.key
          )
    if (secrets !== null && Either.isRight(secrets.decrypt(canaryPlace, canary))) return
    const own = isChosen ? "GATEWAY_ENCRYPTION_KEY" : masterKeyFile(dataDir)
    const needed =
      stretching === null
        ? `the file master.key of the data folder it comes from (put it at ${masterKeyFile(dataDir)}, without GATEWAY_ENCRYPTION_KEY)`
        : "the GATEWAY_ENCRYPTION_KEY of the gateway it comes from"
    return yield* refused(
      "encryption_key_mismatch",
      `Its credentials are encrypted with ${nameOfKey(keyIdIn(canary))}, which ${own} is not. It needs ${needed}.`
    )
  })

/** The schema version of a file that may take the place of the live database. */
export const examine = (file: string): Effect.Effect<number, RestoreRefused | StoreFailure, AppConfig> =>
  Effect.gen(function* () {
    const supported = versionOf(migrations)
    yield* headerAt(file)
    const found = yield* check(file)
    if ("error" in found) {
      if (found.error.code === "SQLITE_NOTADB") return yield* notADatabase
      if (found.error.code === "SQLITE_FULL" || found.error.code.startsWith("SQLITE_IOERR")) {
        return yield* refusedAt(file)(found.error)
      }
      return yield* refused("database_damaged", `The database cannot be read (${found.error.message}).`)
    }
    if (found.verdict !== "ok") {
      return yield* refused("database_damaged", `The database is damaged (${found.verdict.slice(0, 200)}).`)
    }
    if (found.version > supported) {
      return yield* refused(
        "schema_newer",
        `The database has schema version ${found.version}, but this gateway knows versions up to ${supported}: upgrade the gateway first.`
      )
    }
    const difference =
      found.version === 0 ? "it has no schema version" : differenceOf(found.objects, yield* objectsOf(found.version))
    if (difference !== null) {
      return yield* refused("schema_foreign", `The database is not one of a gateway's: ${difference}.`)
    }
    yield* checkKey(found)
    return found.version
  })
