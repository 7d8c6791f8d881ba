/**
 * The dashboard's files, as the build has made them (`bin/dashboard.mjs`), beside the program's chunks: every path below `/dashboard` that is no
 * file answers the shell, which draws the view of the path. The shell names its files relative to the path, so that a proxy may serve the gateway
 * below a path of its own.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, brotliDecompressSync, constants, gzipSync } from "node:zlib"
import { htmlType } from "./PageHeaders.ts"

/** The folder of the built dashboard. */
const builtFolder = join(dirname(dirname(fileURLToPath(import.meta.url))), "dashboard")

/** Nothing is loaded from elsewhere, and no text becomes a script or an element. */
export const dashboardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'"
].join("; ")

/** Coding of a file: as it is, or compressed by the build. */
export type FileCoding = "identity" | "gzip" | "br"

/** Files of a build, by name. */
interface Manifest {
  readonly build: string
  readonly shell: string
  readonly files: Readonly<Record<string, { readonly type: string; readonly codings: ReadonlyArray<FileCoding> }>>
}

export interface DashboardFile {
  readonly type: string
  readonly coding: FileCoding
  readonly bytes: Buffer
}

export interface Dashboard {
  /** Names the build: another one has other files. */
  readonly build: string
  /** Returns a file of `/dashboard/assets/` in the best coding of those that the client takes; null when there is none of this name. */
  readonly file: (name: string, acceptEncoding: string | undefined) => DashboardFile | null
  /** Returns the shell for a path below `/dashboard/`; `path` is what follows, without the query. */
  readonly shell: (path: string) => string
}

const ends: Readonly<Record<FileCoding, string>> = { identity: "", gzip: ".gz", br: ".br" }

const best: ReadonlyArray<FileCoding> = ["br", "gzip"]

/** Checks whether a client takes a coding: named, and not with the weight 0 (RFC 9110, 12.5.3). */
export const takesCoding = (acceptEncoding: string | undefined, coding: string): boolean =>
  (acceptEncoding ?? "").split(",").some((one) => {
    const [name, ...parameters] = one.trim().toLowerCase().split(";")
    return name?.trim() === coding && !parameters.some((parameter) => /^\s*q=0(?:\.0*)?\s*$/.test(parameter))
  })

/** Marks in the shell where the address of a file begins. */
const rootMark = "%root%"

/** Compressions on demand, of what the build has not compressed in this way, or the package came without. */
const compressors: Readonly<Record<Exclude<FileCoding, "identity">, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
}

/** Reads a file as it is; of the largest a package has the compressed form alone (`bin/release/stage.mjs`). */
const readPlain = (path: string): Buffer =>
  existsSync(path) ? readFileSync(path) : brotliDecompressSync(readFileSync(`${path}${ends.br}`))

/** Reads a file of the build, or makes it of the one in another coding. */
const read = (folder: string, file: string): Buffer => {
  const path = join(folder, file)
  const coding = best.find((one) => file.endsWith(ends[one]))
  if (coding === undefined || coding === "identity") return readPlain(path)
  return existsSync(path) ? readFileSync(path) : compressors[coding](readPlain(path.slice(0, -ends[coding].length)))
}

const openDashboard = (folder: string): Dashboard => {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))
  const shell = readFileSync(join(folder, manifest.shell), "utf8")
  const kept = new Map<string, Buffer>()
  const bytesOf = (file: string): Buffer => {
    const known = kept.get(file)
    if (known !== undefined) return known
    const bytes = read(join(folder, "assets"), file)
    kept.set(file, bytes)
    return bytes
  }
  return {
    build: manifest.build,
    file: (name, acceptEncoding) => {
      const known = Object.hasOwn(manifest.files, name) ? manifest.files[name] : undefined
      if (known === undefined) return null
      const coding =
        best.find((one) => known.codings.includes(one) && takesCoding(acceptEncoding, one)) ?? ("identity" as const)
      return { type: known.type, coding, bytes: bytesOf(`${name}${ends[coding]}`) }
    },
    shell: (path) => shell.replaceAll(rootMark, "../".repeat(path.split("/").length - 1) || "./")
  }
}

/** Opens the dashboard of a folder, or of the build; null where the program was built without one, as the sources are. */
export const dashboardOf = (given: string | null): Dashboard | null => {
  const folder = given ?? builtFolder
  return existsSync(join(folder, "manifest.json")) ? openDashboard(folder) : null
}

/** Headers of the shell. */
export const shellHeaders: Readonly<Record<string, string>> = {
  "Content-Type": htmlType,
  "Content-Security-Policy": dashboardPolicy,
  "Cache-Control": "no-cache",
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin"
}

/** Headers of a file: its name changes with its content. */
export const assetHeaders = ({ bytes, coding, type }: DashboardFile): Readonly<Record<string, string>> => ({
  "Content-Type": type,
  "Content-Length": String(bytes.length),
  ...(coding === "identity" ? {} : { "Content-Encoding": coding }),
  Vary: "Accept-Encoding",
  "Cache-Control": "public, max-age=31536000, immutable",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin"
})
