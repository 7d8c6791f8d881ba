/**
 * Encryption of credential columns: AES-256-GCM, bound by its additional data to table, column and row, so that a ciphertext moved
 * to another row cannot be decrypted. Text form: `enc:v1:<keyId>:<iv>:<tag>:<ciphertext>`, the last three base64url.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { AppConfig } from "../../platform/AppConfig.ts"
import { type StoreFailure, WrongKey } from "../Errors.ts"
import * as MasterKey from "./MasterKey.ts"
import * as StretchedKey from "./StretchedKey.ts"
import { named } from "../engine/Table.ts"

/** The column and row of a ciphertext. */
export interface Place {
  readonly table: string
  readonly column: string
  readonly rowId: string
}

/** A ciphertext that cannot be decrypted: written with another key, moved from another row, or altered. */
export class SecretUnreadable extends Data.TaggedError("SecretUnreadable")<{
  readonly place: Place
  readonly reason: "malformed" | "other key" | "altered"
}> {}

export class Secrets extends Context.Tag("gateway/store/secrets/Secrets")<
  Secrets,
  {
    readonly encrypt: (place: Place, plain: Redacted.Redacted) => string
    readonly decrypt: (place: Place, text: string) => Either.Either<Redacted.Redacted, SecretUnreadable>
    /** A 32-byte key for another purpose, such as signing; the same for the same purpose and master key. */
    readonly subKey: (purpose: string) => Redacted.Redacted<Uint8Array>
    /** The short id of the key that every ciphertext names. It says nothing about the key. */
    readonly keyId: string
  }
>() {}

const ivBytes = 12
const tagBytes = 16

const derive = (master: Redacted.Redacted<Uint8Array>, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", Redacted.value(master), new Uint8Array(), `gateway/${purpose}/v1`, 32))

const additionalData = ({ column, rowId, table }: Place): Uint8Array => Buffer.from(`${table}|${column}|${rowId}`)

/** The cipher over one master key. Synchronous throughout. */
export const fromMasterKey = (master: Redacted.Redacted<Uint8Array>): Context.Tag.Service<Secrets> => {
  const key = derive(master, "columns")
  // Derived separately, so that the id in every ciphertext reveals nothing about the encryption key.
  const keyId = Buffer.from(derive(master, "key-id").subarray(0, 4)).toString("hex")

  const encrypt = (place: Place, plain: Redacted.Redacted): string => {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(additionalData(place))
    const text = Buffer.concat([cipher.update(Redacted.value(plain), "utf8"), cipher.final()])
    return ["enc", "v1", keyId, ...[iv, cipher.getAuthTag(), text].map((part) => part.toString("base64url"))].join(":")
  }

  const decrypt = (place: Place, text: string): Either.Either<Redacted.Redacted, SecretUnreadable> => {
    const unreadable = (reason: SecretUnreadable["reason"]) => Either.left(new SecretUnreadable({ place, reason }))
    const [scheme, version, id, ...parts] = text.split(":")
    const [iv, tag, ciphertext] = parts.map((part) => Buffer.from(part, "base64url"))
    if (scheme !== "enc" || version !== "v1" || iv === undefined || tag === undefined || ciphertext === undefined) {
      return unreadable("malformed")
    }
    if (iv.length !== ivBytes || tag.length !== tagBytes) return unreadable("malformed")
    if (id !== keyId) return unreadable("other key")
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, iv).setAAD(additionalData(place)).setAuthTag(tag)
      const plain = Buffer.concat([decipher.update(ciphertext), decipher.final()])
      return Either.right(Redacted.make(plain.toString("utf8")))
    } catch {
      return unreadable("altered")
    }
  }

  return { keyId, encrypt, decrypt, subKey: (purpose) => Redacted.make(derive(master, `purpose/${purpose}`)) }
}

/** The row of `meta` by which a wrong key is detected. */
export const canaryRow = "encryption_canary"
/** The row of `meta` with the stretching parameters of a chosen key; absent where the key is used as it is. */
export const stretchingRow = "encryption_stretching"
/** Place of the canary. */
export const canaryPlace: Place = { table: "meta", column: "value", rowId: canaryRow }

/** The id of the key that a ciphertext was made with; null when it is none. It says nothing about the key. */
export const keyIdIn = (ciphertext: string): string | null => /^enc:v1:([0-9a-f]{8}):/.exec(ciphertext)?.[1] ?? null

/** Reads the canary, which only the right key decrypts; the first start writes it, of several at once the one that comes first. */
export const make: Effect.Effect<
  Context.Tag.Service<Secrets>,
  StoreFailure,
  AppConfig | SqlClient.SqlClient
> = Effect.gen(function* () {
  const { dataDir, encryptionKey } = yield* AppConfig
  const sql = yield* SqlClient.SqlClient
  const meta = (key: string) =>
    Effect.map(sql<{ value: string }>`SELECT value FROM meta WHERE key = ${key}`, ([row]) => row?.value ?? null)
  const stored = yield* meta(canaryRow)
  const master = yield* MasterKey.load({ dataDir, encryptionKey, mayCreate: stored === null })
  const isChosen = master.keyFile === null
  if (stored === null) {
    const stretching = isChosen ? StretchedKey.fresh() : null
    const secrets = fromMasterKey(
      stretching === null ? master.key : yield* StretchedKey.stretch(master.key, stretching)
    )
    const rows = [
      { key: canaryRow, value: secrets.encrypt(canaryPlace, Redacted.make("gateway")) },
      ...(stretching === null ? [] : [{ key: stretchingRow, value: stretching }])
    ]
    yield* sql`DELETE FROM meta WHERE key = ${stretchingRow} AND NOT EXISTS (SELECT 1 FROM meta WHERE key = ${canaryRow})`
    const written = yield* sql`INSERT INTO meta ${sql.insert(rows)} ON CONFLICT (key) DO NOTHING RETURNING key`
    // Another gateway on the same database was first: its key is the one that counts.
    return written.length === rows.length ? secrets : yield* make
  }
  // A database without the row is older than key stretching, or has its key from the file: the key is used as it is.
  const stretching = isChosen ? yield* meta(stretchingRow) : null
  const secrets = fromMasterKey(stretching === null ? master.key : yield* StretchedKey.stretch(master.key, stretching))
  if (Either.isLeft(secrets.decrypt(canaryPlace, stored))) {
    return yield* new WrongKey({ keyFile: master.keyFile, reason: "mismatch" })
  }
  return secrets
}).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(named("Secrets.canary")(error))))

export const layer: Layer.Layer<Secrets, StoreFailure, AppConfig | SqlClient.SqlClient> = Layer.effect(Secrets, make)

/** A fixed key for tests: no file, no canary. */
export const layerTest: Layer.Layer<Secrets> = Layer.sync(Secrets, () =>
  fromMasterKey(Redacted.make(new Uint8Array(32).fill(7)))
)
