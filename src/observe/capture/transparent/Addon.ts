/** The addon of `native/tproxy`, loaded when it is first asked for. Without it only the transparent mode is missing. */
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { once } from "../../../kernel/once.ts"

export interface Addon {
  /** A listening socket that takes connections to any address. Its descriptor. */
  readonly listen: (family: 4 | 6, address: string, port: number, backlog: number) => number
  /** A socket with a firewall mark, not connected. Its descriptor. */
  readonly socket: (family: 4 | 6, mark: number) => number
  /** The mark of a socket. */
  readonly mark: (descriptor: number) => number
  /** Closes descriptors that no socket of Node owns. */
  readonly close: (descriptor: number) => void
}

export type Loaded =
  | { readonly _tag: "Loaded"; readonly addon: Addon }
  /** `reason` is a sentence. */
  | { readonly _tag: "Missing"; readonly reason: string }

const missing = (reason: string): Loaded => ({ _tag: "Missing", reason })

const built = "native/tproxy/build/Release/tproxy.node"
const mostFolders = 8

/** Finds the file in the folder of the program or one above: the sources and the bundle are at different depths. */
const find = (): string | null => {
  let folder = dirname(fileURLToPath(import.meta.url))
  for (let depth = 0; depth < mostFolders; depth += 1) {
    const file = join(folder, built)
    if (existsSync(file)) return file
    if (existsSync(join(folder, "package.json")) && existsSync(join(folder, "bin/gateway"))) return null
    folder = dirname(folder)
  }
  return null
}

const isAddon = (value: unknown): value is Addon =>
  typeof value === "object" &&
  value !== null &&
  ["listen", "socket", "mark", "close"].every((name) => typeof Reflect.get(value, name) === "function")

export const loadAddon = once((): Loaded => {
  if (process.platform !== "linux") return missing("Transparent capture needs Linux.")
  const file = find()
  if (file === null) return missing("The addon is not built. Run 'npm run build:native' in the gateway's folder.")
  try {
    const loaded: unknown = createRequire(import.meta.url)(file)
    return isAddon(loaded)
      ? { _tag: "Loaded", addon: loaded }
      : missing("The addon is of another version. Build it again.")
  } catch {
    return missing("The addon cannot be loaded. Build it again with 'npm run build:native'.")
  }
})

/** Describes why the addon may not be used; null: it may. A socket is made and closed at once. */
export const privilegeProblem = (addon: Addon): string | null => {
  try {
    addon.close(addon.listen(4, "127.0.0.1", 0, 1))
    return null
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown"
    return code === "EPERM"
      ? "Transparent capture needs the network-admin capability (CAP_NET_ADMIN); root has it."
      : `The system makes no transparent sockets (${code}).`
  }
}
