/**
 * Loads the master key: `GATEWAY_ENCRYPTION_KEY` (chosen by a person, stretched by `StretchedKey`), else `<data folder>/master.key`,
 * which the first start makes with mode 0600. A key file that others can read is restricted to its owner with a warning: refusing it
 * would stop the gateway without making the key any safer.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { chmodSync, closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { isThere } from "../../platform/files/PathAccess.ts"
import { masterKeyFile, onDisk } from "../DataFolder.ts"
import { type StoreFailure, WrongKey } from "../Errors.ts"

export interface MasterKey {
  readonly key: Redacted.Redacted<Uint8Array>
  /** Null when the key came from the environment. */
  readonly keyFile: string | null
}

export interface Source {
  readonly dataDir: string
  readonly encryptionKey: Redacted.Redacted | null
  /** True when a new key may be made: only for a database without encrypted values. */
  readonly mayCreate: boolean
}

const keyBytes = 32

const synced = (descriptor: number, write: (descriptor: number) => void): void => {
  try {
    write(descriptor)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const create = (file: string): Uint8Array => {
  const key = randomBytes(keyBytes)
  synced(openSync(file, "wx", 0o600), (descriptor) => void writeSync(descriptor, `${key.toString("base64url")}\n`))
  // The folder too: after a power cut the key must not be missing while encrypted values exist.
  synced(openSync(dirname(file), "r"), () => {})
  return key
}

const read = (file: string): { readonly key: Uint8Array; readonly wasOpen: boolean } => {
  const descriptor = openSync(file, "r")
  try {
    const wasOpen = (fstatSync(descriptor).mode & 0o077) !== 0
    if (wasOpen) chmodSync(file, 0o600)
    return { key: Buffer.from(readFileSync(descriptor, "utf8").trim(), "base64url"), wasOpen }
  } finally {
    closeSync(descriptor)
  }
}

/** The configured key, else the key file's, which is made where it is missing and `mayCreate` is set. */
export const load = ({ dataDir, encryptionKey, mayCreate }: Source): Effect.Effect<MasterKey, StoreFailure> =>
  Effect.gen(function* () {
    if (encryptionKey !== null) {
      return { key: Redacted.make(Buffer.from(Redacted.value(encryptionKey))), keyFile: null }
    }
    const keyFile = masterKeyFile(dataDir)
    if (!(yield* onDisk(keyFile, () => isThere(keyFile)))) {
      if (!mayCreate) return yield* new WrongKey({ keyFile, reason: "missing" })
      return { key: Redacted.make(yield* onDisk(keyFile, () => create(keyFile))), keyFile }
    }
    const { key, wasOpen } = yield* onDisk(keyFile, () => read(keyFile))
    if (wasOpen) {
      yield* Effect.logWarning(`The key file ${keyFile} was readable by other users; its mode is now 0600.`)
    }
    if (key.length !== keyBytes) return yield* new WrongKey({ keyFile, reason: "malformed" })
    return { key: Redacted.make(key), keyFile }
  })
