/** Facts of the system that the installation and the start of other programs depend on. */
import * as Effect from "effect/Effect"
import { readFileSync, statSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { isProgram } from "./programs/ProgramFile.ts"

export interface HostSystem {
  /** Node's name of it: `linux`, `darwin`, … */
  readonly platform: string
  /** True when this process is root. */
  readonly isRoot: boolean
  /** The fields of `/etc/os-release`; empty where there is none. https://www.freedesktop.org/software/systemd/man/latest/os-release.html */
  readonly osRelease: ReadonlyMap<string, string>
}

const osReleaseFile = "/etc/os-release"
const mostBytes = 65_536

/** Lines of `NAME=value`, the value in quotes or not. */
export const parseOsRelease = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split("\n").flatMap((line): ReadonlyArray<readonly [string, string]> => {
      const at = line.indexOf("=")
      const name = line.slice(0, at).trim()
      if (at <= 0 || !/^[A-Z][A-Z0-9_]*$/.test(name)) return []
      return [
        [
          name,
          line
            .slice(at + 1)
            .trim()
            .replace(/^(["'])(.*)\1$/, "$2")
        ]
      ]
    })
  )

const readOsRelease = (): ReadonlyMap<string, string> => {
  try {
    return statSync(osReleaseFile).size > mostBytes ? new Map() : parseOsRelease(readFileSync(osReleaseFile, "utf8"))
  } catch {
    return new Map()
  }
}

export const readHostSystem: Effect.Effect<HostSystem> = Effect.sync(() => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  osRelease: process.platform === "linux" ? readOsRelease() : new Map()
}))

/** Folders of system programs that are on no ordinary user's `PATH`. */
const systemFolders = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/opt/homebrew/bin"]

/** The path of a program: an absolute one as it is, a name by `PATH` and then the folders of the system. Null: there is none. */
export const findProgram = (name: string, environment: ReadonlyMap<string, string>): Effect.Effect<string | null> =>
  Effect.sync(() => {
    if (isAbsolute(name)) return isProgram(name) ? name : null
    const folders = (environment.get("PATH") ?? "").split(process.platform === "win32" ? ";" : ":")
    return (
      [...folders, ...systemFolders]
        .filter(isAbsolute)
        .map((folder) => join(folder, name))
        .find(isProgram) ?? null
    )
  })
