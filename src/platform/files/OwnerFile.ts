/**
 * `<data folder>/owner-token.json`: how a command finds the gateway that serves this data folder and shows that it runs as its owner.
 * The running gateway writes it with mode 0600 and removes it when it stops. A user who can read it can read the database as well.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isLoopbackHost } from "../../kernel/BindAddress.ts"

/** A gateway that serves a data folder. */
export interface RunningGateway {
  /** `http://host:port` as programs of this machine reach it. */
  readonly url: string
  readonly pid: number
  readonly token: Redacted.Redacted
}

export const ownerFile = (dataDir: string): string => join(dataDir, "owner-token.json")

/** The file is there, but not to be trusted. `problem` continues a sentence that begins with the file's name. */
export class OwnerFileRefused extends Data.TaggedError("OwnerFileRefused")<{
  readonly file: string
  readonly problem: string
}> {}

/** The file cannot be written or removed. */
export class OwnerFileFailed extends Data.TaggedError("OwnerFileFailed")<{
  readonly file: string
  readonly cause: unknown
}> {}

const Content = Schema.parseJson(
  Schema.Struct({
    url: Schema.String,
    pid: Schema.Number.pipe(Schema.int(), Schema.positive()),
    token: Schema.Redacted(Schema.NonEmptyString)
  })
)
const encode = Schema.encodeSync(Content)
const decode = Schema.decodeUnknownOption(Content)

const onFile = (file: string, run: () => void): Effect.Effect<void, OwnerFileFailed> =>
  Effect.try({ try: run, catch: (cause) => new OwnerFileFailed({ file, cause }) })

/** Makes the file in one step: a reader sees the whole of it or none. Only the gateway that holds the data folder may call this. */
export const write = (dataDir: string, running: RunningGateway): Effect.Effect<void, OwnerFileFailed> => {
  const file = ownerFile(dataDir)
  const fresh = `${file}.new`
  return onFile(file, () => {
    // Left by a run that was killed.
    rmSync(fresh, { force: true })
    writeFileSync(fresh, `${encode(running)}\n`, { flag: "wx", mode: 0o600 })
    renameSync(fresh, file)
  })
}

export const remove = (dataDir: string): Effect.Effect<void, OwnerFileFailed> => {
  const file = ownerFile(dataDir)
  return onFile(file, () => rmSync(file, { force: true }))
}

const maxBytes = 4096

type Found = { readonly _tag: "None" } | { readonly _tag: "Text"; readonly text: string } | Problem
interface Problem {
  readonly _tag: "Problem"
  readonly problem: string
}
const none: Found = { _tag: "None" }
const refused = (problem: string): Problem => ({ _tag: "Problem", problem })

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "unknown")

/** Checks and reads one descriptor, so that the file cannot be exchanged in between. */
const readOwn = (file: string): Found => {
  let descriptor: number
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return none
    return refused(code === "ELOOP" ? "is a symbolic link" : `cannot be read (${code})`)
  }
  try {
    const { mode, size, uid } = fstatSync(descriptor)
    const self = process.getuid?.()
    if (self !== undefined && uid !== self) return refused(`belongs to another user (id ${uid})`)
    if (self !== undefined && (mode & 0o777) !== 0o600) {
      return refused(`has mode 0${(mode & 0o777).toString(8)} instead of 0600`)
    }
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) return refused("is not a plain file")
    if (size > maxBytes) return refused("does not hold what a gateway writes")
    const bytes = Buffer.alloc(maxBytes)
    return { _tag: "Text", text: bytes.toString("utf8", 0, readSync(descriptor, bytes)) }
  } finally {
    closeSync(descriptor)
  }
}

const isLoopbackUrl = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { hostname, pathname, protocol, username } = new URL(url)
  return (
    protocol === "http:" && pathname === "/" && username === "" && isLoopbackHost(hostname.replace(/^\[(.*)\]$/, "$1"))
  )
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user cannot be signalled, but it is there.
    return codeOf(error) === "EPERM"
  }
}

/** The gateway that serves the data folder as far as its file says; null when there is no file, or its process is gone. */
export const read = (dataDir: string): Effect.Effect<RunningGateway | null, OwnerFileRefused> =>
  Effect.suspend(() => {
    const file = ownerFile(dataDir)
    const found = readOwn(file)
    if (found._tag === "None") return Effect.succeed(null)
    if (found._tag === "Problem") return new OwnerFileRefused({ file, problem: found.problem })
    const content = decode(found.text)
    if (content._tag === "None") return new OwnerFileRefused({ file, problem: "does not hold what a gateway writes" })
    const running = content.value
    if (!isAlive(running.pid)) return Effect.succeed(null)
    if (!isLoopbackUrl(running.url)) {
      return new OwnerFileRefused({
        file,
        problem: `names ${running.url}, which is not an address of this machine alone`
      })
    }
    return Effect.succeed(running)
  })
