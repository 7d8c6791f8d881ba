/** Checks of the machine: runtime version, native parts, memory, the port, and whether a gateway answers. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { existsSync, statfsSync } from "node:fs"
import { createServer } from "node:net"
import { freemem } from "node:os"
import { dirname } from "node:path"
import manifest from "../../../package.json" with { type: "json" }
import { filesFor, requestsWithin } from "../../platform/files/OpenFiles.ts"
import { loadModule } from "../lazy.ts"
import * as Finding from "./Finding.ts"

const numbers = (version: string): ReadonlyArray<number> => (version.match(/\d+/g) ?? []).slice(0, 3).map(Number)

/** Checks whether a version is at least another; both like `20.19.0`. */
export const isAtLeast = (version: string, least: string): boolean => {
  const wanted = numbers(least)
  const found = numbers(version)
  const differing = wanted.findIndex((part, index) => (found[index] ?? 0) !== part)
  return differing === -1 || (found[differing] ?? 0) > (wanted[differing] ?? 0)
}

export const runtime = (version: string): Finding.Finding =>
  isAtLeast(version, manifest.engines.node)
    ? Finding.ok(`Node.js ${version}`)
    : Finding.fail(
        `Node.js ${version} is too old.`,
        `Install Node.js ${manifest.engines.node.replace(">=", "")} or newer.`
      )

/**
 * Checks whether the native parts were built for this runtime. Password hashes have an alternative; the database has
 * none.
 */
export const native = Effect.gen(function* () {
  const driver = yield* loadModule(() => import("../../store/engine/Handle.ts")).pipe(
    Effect.flatMap(({ open }) => open(":memory:", { readonly: false, busyTimeoutMs: 0 })),
    Effect.scoped,
    Effect.either
  )
  if (Either.isLeft(driver)) {
    const { driverFailure, describeStoreFailure } = yield* loadModule(() => import("../../store/Errors.ts"))
    const failure = driverFailure(driver.left)
    return Finding.fail(
      failure === null ? "The database driver (better-sqlite3) cannot be loaded." : describeStoreFailure(failure),
      "Run 'npm rebuild better-sqlite3' in the folder of the program."
    )
  }
  const hasher = yield* Effect.either(loadModule(() => import("@node-rs/argon2")))
  return Either.isLeft(hasher)
    ? Finding.warn(
        "The password hasher (@node-rs/argon2) cannot be loaded; scrypt is used instead.",
        "Run 'npm ci' in the project folder."
      )
    : Finding.ok("the database driver and @node-rs/argon2 load")
}).pipe(Effect.catchAll(({ hint, message }) => Effect.succeed(Finding.fail(message, hint ?? ""))))

/** Requests at once that a gateway should have files for, whatever its memory allows. */
const usualRequests = 5_000

/** `files`: how many the process may have open; null when it is unknown. */
export const openFilesOf = (files: number | null): Finding.Finding => {
  if (files === null) return Finding.ok("No limit of open files is known")
  const requests = requestsWithin(files)
  const message = `${files} open files are allowed, enough for ${requests} requests at once`
  return files >= filesFor(usualRequests)
    ? Finding.ok(message)
    : Finding.warn(
        message,
        `Start the gateway with a higher limit: 'ulimit -n 65536' in the shell, LimitNOFILE=65536 of a systemd unit, --ulimit nofile=65536 of docker run.`
      )
}

/** `cores`: how many processes can run at once. */
export const workersOf = (workers: number, cores: number): Finding.Finding =>
  workers <= cores
    ? Finding.ok(`${workers} workers, for ${cores} cores`)
    : Finding.warn(
        `${workers} workers, for ${cores} core${cores === 1 ? "" : "s"}: more workers than cores make nothing faster.`,
        `Set GATEWAY_WORKERS to 'auto' or to ${cores} at most.`
      )

const mebibyte = 1_048_576
const scarceBytes = 256 * mebibyte
const hopelessBytes = 64 * mebibyte

export const memory = (freeBytes: number): Finding.Finding => {
  const free = `${Math.floor(freeBytes / mebibyte)} MiB of memory are free`
  const hint = "Stop other programs, or give the machine more memory."
  if (freeBytes < hopelessBytes) return Finding.fail(`Only ${free}.`, hint)
  return freeBytes < scarceBytes ? Finding.warn(`Only ${free}.`, hint) : Finding.ok(free)
}

const scarceDiskBytes = 512 * mebibyte
const hopelessDiskBytes = 32 * mebibyte

export const disk = (freeBytes: number, folder: string): Finding.Finding => {
  const free = `${Math.floor(freeBytes / mebibyte)} MiB are free on the disk of ${folder}`
  const hint =
    "Make room there: usage rows wait in memory while they cannot be written, and are lost when the gateway stops."
  if (freeBytes < hopelessDiskBytes) return Finding.fail(`Only ${free}.`, hint)
  return freeBytes < scarceDiskBytes ? Finding.warn(`Only ${free}.`, hint) : Finding.ok(free)
}

/** Checks the free space on the disk of the data folder, or of the nearest folder above it that exists. */
export const freeDisk = (dataDir: string): Effect.Effect<Finding.Finding> =>
  Effect.sync(() => {
    let folder = dataDir
    while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
    const { bavail, bsize } = statfsSync(folder)
    return disk(bavail * bsize, folder)
  }).pipe(
    Effect.catchAllDefect(() => Effect.succeed(Finding.skip(`The free space on the disk of ${dataDir} cannot be read`)))
  )

export const freeMemory = Effect.sync(() => memory(freemem()))

/** Tries to listen on a port; returns the system's code of the failure, null when it can. */
const listenProblem = (host: string, port: number): Effect.Effect<string | null> =>
  Effect.async<string | null>((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? error.message)))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resume(Effect.succeed(null))))
    return Effect.sync(() => server.close())
  })

const soon = "3 seconds"

/** The HTTP status of an address; null when nothing answers soon. */
const statusOf = (url: string): Effect.Effect<number | null> =>
  HttpClient.get(url).pipe(
    Effect.map(({ status }) => status),
    Effect.timeout(soon),
    Effect.catchAll(() => Effect.succeed(null)),
    Effect.scoped,
    Effect.provide(FetchHttpClient.layer)
  )

/** Checks whether the port is free, or taken by a gateway (`pingUrl` answers). */
export const port = Effect.fnUntraced(function* (host: string, number: number, pingUrl: string) {
  if (number === 0) return Finding.ok("Any free port is taken at the start (PORT=0)")
  const problem = yield* listenProblem(host, number)
  if (problem === null) return Finding.ok(`Port ${number} on ${host} is free`)
  if (problem === "EADDRINUSE" && (yield* statusOf(pingUrl)) === 200) {
    return Finding.ok(`Port ${number} on ${host} is in use by a gateway`)
  }
  return problem === "EADDRINUSE"
    ? Finding.fail(
        `Port ${number} on ${host} is in use by another program.`,
        "Stop it, or choose another port with --port or PORT."
      )
    : Finding.fail(
        `Nothing can listen on ${host} port ${number} (${problem}).`,
        "Choose another address with HOST, or a port with PORT."
      )
})

export const liveness = Effect.fnUntraced(function* (url: string) {
  const status = yield* statusOf(url)
  if (status !== null && status >= 200 && status < 300) return Finding.ok(`A gateway answers at ${url}`)
  return status === null
    ? Finding.fail(
        `No gateway answers at ${url}.`,
        "Start it with 'gateway serve', or leave this check out with --no-liveness."
      )
    : Finding.fail(
        `What answers at ${url} says ${status}.`,
        "Check the address with --liveness-url, and the log of the gateway."
      )
})
