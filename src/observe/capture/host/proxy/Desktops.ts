/** Finds the desktop's settings, and the plan for it. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { findProgram, programEnvironment } from "../HostPrograms.ts"
import { type Ran, runProgram } from "../undo/run.mjs"
import { gnomeIgnored, gnomePlan } from "./Gnome.ts"
import { kdePlan } from "./Kde.ts"
import { macosBypass, macosPlan, macosServices, readServices } from "./Macos.ts"
import type { Argv, Desktop, ProxyPlan } from "./Plan.ts"
import { windowsPlan } from "./Windows.ts"

type Environment = ReadonlyMap<string, string>

export type Reader = (argv: Argv) => Effect.Effect<Ran>

/** Runs a program that only reads. */
export const reader = (environment: Environment): Reader => {
  const inherited = programEnvironment(environment)
  return (argv) => Effect.promise(() => runProgram(argv, { environment: inherited }))
}

/**
 * The settings belong to the user of the desktop. A gateway that was started with sudo asks them of that user's session.
 * https://www.sudo.ws/docs/man/sudo.man/#ENVIRONMENT
 */
const asDesktopUser = (environment: Environment, program: string): Argv => {
  const uid = environment.get("SUDO_UID")
  const user = environment.get("SUDO_USER")
  const sudo = findProgram(environment, "sudo")
  if (process.getuid?.() !== 0 || uid === undefined || user === undefined || sudo === null || uid === "0")
    return [program]
  const bus = `/run/user/${uid}/bus`
  if (!/^\d{1,10}$/u.test(uid) || !existsSync(bus)) return [program]
  return [sudo, "-n", "-u", user, "--", "/usr/bin/env", `DBUS_SESSION_BUS_ADDRESS=unix:path=${bus}`, program]
}

/**
 * Checks whether there is a session whose bus keeps the settings; a backend that is a file needs none. Without one dconf sometimes reports it and
 * sometimes not, and forgets in any case.
 */
const keepsSettings = (environment: Environment, command: Argv): boolean => {
  const runtime = environment.get("XDG_RUNTIME_DIR") ?? ""
  return (
    command.length > 1 ||
    (environment.get("GSETTINGS_BACKEND") ?? "dconf") !== "dconf" ||
    ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY"].some((name) => (environment.get(name) ?? "") !== "") ||
    (runtime !== "" && existsSync(join(runtime, "bus")))
  )
}

interface Found {
  readonly desktop: Desktop
  readonly plan: (read: Reader, port: number) => Effect.Effect<ProxyPlan | null>
}

const gnome = (environment: Environment): Found | null => {
  const gsettings = findProgram(environment, "gsettings")
  if (gsettings === null) return null
  const command = asDesktopUser(environment, gsettings)
  if (!keepsSettings(environment, command)) return null
  return {
    desktop: "gnome",
    plan: (read, port) =>
      Effect.map(read(gnomeIgnored(command)), (ignored) =>
        ignored.ok ? gnomePlan(command, port, ignored.stdout) : null
      )
  }
}

const kde = (environment: Environment): Found | null => {
  for (const version of ["6", "5"]) {
    const read = findProgram(environment, `kreadconfig${version}`)
    const write = findProgram(environment, `kwriteconfig${version}`)
    if (read === null || write === null) continue
    const programs = { read, write, dbusSend: findProgram(environment, "dbus-send") }
    return { desktop: "kde", plan: (_, port) => Effect.succeed(kdePlan(programs, port)) }
  }
  return null
}

/** Adds on KDE the other desktop's settings, where they are: programs made with GTK read those. */
const kdeAndGnome = (first: Found, second: Found | null): Found => ({
  desktop: first.desktop,
  plan: (read, port) =>
    Effect.gen(function* () {
      const plan = yield* first.plan(read, port)
      const other = second === null ? null : yield* second.plan(read, port)
      if (plan === null || other === null) return plan
      return { ...plan, settings: [...other.settings, ...plan.settings] }
    })
})

const macos = (environment: Environment): Found | null => {
  const networksetup = findProgram(environment, "networksetup")
  if (networksetup === null) return null
  return {
    desktop: "macos",
    plan: (read, port) =>
      Effect.gen(function* () {
        const listed = yield* read(macosServices(networksetup))
        if (!listed.ok) return null
        const services = readServices(listed.stdout)
        const domains = yield* Effect.forEach(services, (service) => read(macosBypass(networksetup, service)))
        return macosPlan(
          networksetup,
          new Map(services.map((service, index) => [service, domains[index]?.stdout ?? ""])),
          port
        )
      })
  }
}

const windows = (environment: Environment): Found | null => {
  const reg = findProgram(environment, "reg")
  const powershell = findProgram(environment, "powershell")
  return reg === null
    ? null
    : { desktop: "windows", plan: (_, port) => Effect.succeed(windowsPlan({ reg, powershell }, port)) }
}

/** Null where the gateway knows no way to set a proxy. `gsettings` means GNOME, unless the session says that it is KDE. */
export const findDesktop = (environment: Environment, platform: NodeJS.Platform): Found | null => {
  if (platform === "darwin") return macos(environment)
  if (platform === "win32") return windows(environment)
  const ofKde = kde(environment)
  const ofGnome = gnome(environment)
  const isKde = (environment.get("XDG_CURRENT_DESKTOP") ?? "").split(":").includes("KDE")
  return ofKde !== null && isKde ? kdeAndGnome(ofKde, ofGnome) : (ofGnome ?? ofKde)
}
