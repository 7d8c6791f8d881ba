/**
 * Opens an address in the browser of the person at this machine, by the system's own program for that and never by a shell. Where there is no
 * person, no screen or no such program, it says so and opens nothing.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { isProgram } from "./ProgramFile.ts"
import { findProgram } from "./ProgramPath.ts"

/** Reason for which no browser is opened, as a sentence ends: "…, because <reason>". */
export type NoBrowser = "this is a session over ssh" | "there is no screen" | "no program opens browsers here"

/** The program that opens an address, and its arguments before the address. */
export interface Opener {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

type Environment = ReadonlyMap<string, string>

const isSet = (environment: Environment, name: string): boolean => (environment.get(name) ?? "") !== ""

/** Linux: the programs of the desktops' common scripts, https://www.freedesktop.org/wiki/Software/xdg-utils/. */
const linuxOpeners: ReadonlyArray<readonly [name: string, ...args: ReadonlyArray<string>]> = [
  ["xdg-open"],
  ["gio", "open"],
  ["wslview"]
]

const linuxOpener = Effect.fnUntraced(function* (environment: Environment) {
  if (!isSet(environment, "DISPLAY") && !isSet(environment, "WAYLAND_DISPLAY")) return "there is no screen" as const
  for (const [name, ...args] of linuxOpeners) {
    const command = yield* findProgram(environment, name)
    if (command !== null) return { command, args }
  }
  return "no program opens browsers here" as const
})

const fixed = (command: string, args: ReadonlyArray<string>): Opener | NoBrowser =>
  isProgram(command) ? { command, args } : "no program opens browsers here"

/** Finds the program that opens addresses on a system (`platform` as Node names it). */
export const findOpener = (environment: Environment, platform: string): Effect.Effect<Opener | NoBrowser> => {
  // The screen would be that of another machine, or there is none.
  if (["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"].some((name) => isSet(environment, name))) {
    return Effect.succeed("this is a session over ssh")
  }
  if (platform === "darwin") return Effect.sync(() => fixed("/usr/bin/open", []))
  if (platform === "win32") {
    const system = join(environment.get("SYSTEMROOT") ?? "C:\\Windows", "System32", "rundll32.exe")
    return Effect.sync(() => fixed(system, ["url.dll,FileProtocolHandler"]))
  }
  return linuxOpener(environment)
}

/** Variables of the person's session that a browser needs, and none of the gateway's secrets. */
const passedOn =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TMPDIR|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|BROWSER|DESKTOP_SESSION|DBUS_SESSION_BUS_ADDRESS|XDG_\w+|KDE_\w+|GNOME_\w+|WSL\w+|SYSTEMROOT|USERPROFILE|APPDATA|LOCALAPPDATA|TEMP|TMP)$/

/** Longer it runs only when it is the browser itself. */
const soonMs = 3_000

/**
 * Opens the address; false when the program cannot be started or says that it could not. The address is an argument of a program: on most systems
 * every user of the machine can read it while the program runs.
 */
export const openAddress = (opener: Opener, environment: Environment, address: string): Effect.Effect<boolean> =>
  Effect.async<boolean>((resume) => {
    const child = spawn(opener.command, [...opener.args, address], {
      env: Object.fromEntries([...environment].filter(([name]) => passedOn.test(name))),
      stdio: "ignore",
      detached: true,
      shell: false,
      windowsHide: true
    })
    child.once("error", () => resume(Effect.succeed(false)))
    child.once("exit", (code) => resume(Effect.succeed(code === 0)))
    child.unref()
  }).pipe(Effect.timeoutTo({ duration: soonMs, onSuccess: (opened) => opened, onTimeout: () => true }))
