/** The full archive: a manifest, the database, and lists for people, without credentials. */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { endOfArchive, headerOf, paddingOf } from "../../kernel/Tar.ts"
import type { Download } from "../../store/Backup.ts"

export interface ArchiveFile {
  /** ASCII, 100 characters at most. */
  readonly name: string
  readonly text: string
}

export interface ArchiveFacts {
  readonly gatewayVersion: string
  readonly schemaVersion: number
  readonly exportedAtMs: number
  /** Short id of the key that the credentials are encrypted with; null when there is none yet. */
  readonly keyId: string | null
  /** The key file, as seen from the data folder; null when the key comes from the environment. */
  readonly keyFile: string | null
}

const databaseName = "gateway.sqlite"
const chunkBytes = 1_048_576

/** The content of a file from its beginning, in pieces. */
export async function* piecesOf({ handle, sizeBytes }: Download): AsyncGenerator<Buffer> {
  for (let position = 0; position < sizeBytes;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position)
    if (bytesRead === 0) throw new Error("The copy of the database became shorter while it was read.")
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const hashOf = (download: Download): Effect.Effect<string> =>
  Effect.promise(async () => {
    const hash = createHash("sha256")
    for await (const piece of piecesOf(download)) hash.update(piece)
    return hash.digest("hex")
  })

const manifestOf = (facts: ArchiveFacts, files: ReadonlyArray<object>): string =>
  `${JSON.stringify(
    {
      format: "gateway-backup",
      formatVersion: 1,
      gatewayVersion: facts.gatewayVersion,
      schemaVersion: facts.schemaVersion,
      exportedAt: new Date(facts.exportedAtMs).toISOString(),
      encryption: {
        keyId: facts.keyId,
        keyFile: facts.keyFile,
        note:
          facts.keyId === null
            ? "Nothing in the database is encrypted yet."
            : facts.keyFile === null
              ? "Credentials are encrypted. A restore on another machine needs the same GATEWAY_ENCRYPTION_KEY."
              : `Credentials are encrypted. A restore on another machine needs the file ${facts.keyFile} of the data folder, which is not in this archive.`
      },
      files
    },
    null,
    2
  )}\n`

/** The bytes of the archive before its compression. */
export const archiveOf = (
  download: Download,
  facts: ArchiveFacts,
  lists: ReadonlyArray<ArchiveFile>
): Effect.Effect<AsyncGenerator<Buffer>> =>
  Effect.map(hashOf(download), (databaseHash) => {
    const listed = lists.map(({ name, text }) => ({ name, sizeBytes: Buffer.byteLength(text), sha256: sha256(text) }))
    const manifest = manifestOf(facts, [
      { name: databaseName, sizeBytes: download.sizeBytes, sha256: databaseHash },
      ...listed
    ])
    const modifiedMs = facts.exportedAtMs
    function* textFile({ name, text }: ArchiveFile): Generator<Buffer> {
      const bytes = Buffer.from(text)
      yield headerOf(name, bytes.length, modifiedMs)
      yield bytes
      yield paddingOf(bytes.length)
    }
    async function* all(): AsyncGenerator<Buffer> {
      yield* textFile({ name: "manifest.json", text: manifest })
      for (const list of lists) yield* textFile(list)
      yield headerOf(databaseName, download.sizeBytes, modifiedMs)
      yield* piecesOf(download)
      yield paddingOf(download.sizeBytes)
      yield endOfArchive()
    }
    return all()
  })
