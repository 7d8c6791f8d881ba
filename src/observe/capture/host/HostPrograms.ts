/** Programs of the system that capture starts: where they are, and what of the gateway's environment they see. */
import { delimiter, join } from "node:path"
import { isProgram } from "../../../platform/programs/ProgramFile.ts"

type Environment = ReadonlyMap<string, string>

/** Folders of administrators' programs; they are often missing in the `PATH` of services and of ordinary users. */
const systemFolders = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"]

/** `PATH`, with the folders of the system behind it. */
export const searchPath = (environment: Environment): ReadonlyArray<string> => {
  const own = (environment.get("PATH") ?? "").split(delimiter).filter((folder) => folder !== "")
  return process.platform === "win32" ? own : [...new Set([...own, ...systemFolders])]
}

/**
 * Variables that such programs need: the language, the user's folders, the session of the desktop. None is a
 * credential.
 */
const passedOn = [
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "TMPDIR",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "XDG_RUNTIME_DIR",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_DATA_DIRS",
  "XDG_CURRENT_DESKTOP",
  "KDE_SESSION_VERSION",
  "DBUS_SESSION_BUS_ADDRESS",
  "DCONF_PROFILE",
  "GSETTINGS_BACKEND",
  "GSETTINGS_SCHEMA_DIR",
  "JAVA_HOME",
  "XTABLES_LOCKFILE",
  "SYSTEMROOT",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA"
]

/** Whole environment of a program. Its messages are in English, so that they can be read. */
export const programEnvironment = (environment: Environment): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = environment.get(name)
      return value === undefined ? [] : [[name, value]]
    })
  ),
  PATH: searchPath(environment).join(delimiter),
  LC_ALL: "C"
})

/** The absolute path of a program; null where there is none. */
export const findProgram = (environment: Environment, name: string): string | null => {
  const names = process.platform === "win32" ? [`${name}.exe`, name] : [name]
  for (const folder of searchPath(environment)) {
    for (const candidate of names) if (isProgram(join(folder, candidate))) return join(folder, candidate)
  }
  return null
}
