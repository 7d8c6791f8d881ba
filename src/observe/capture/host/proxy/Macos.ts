/**
 * macOS: `networksetup` (man page networksetup(8)), for each network service. Setting an address also turns it on, so the state is set
 * after it. A URL of a PAC file is kept; whether it is used is restored.
 */
import type { UndoStep } from "../undo/steps.mjs"
import { type Argv, proxyHost, type ProxyPlan, run, type Setting } from "./Plan.ts"

const maxServices = 64
const bypass = ["localhost", "127.0.0.1", "::1"]

export const macosServices = (networksetup: string): Argv => [networksetup, "-listallnetworkservices"]

/** Services that are in use: the first line is a remark, and a disabled one has an asterisk. */
export const readServices = (printed: string): ReadonlyArray<string> =>
  printed
    .split("\n")
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("*"))
    .slice(0, maxServices)

const valueOf = (printed: string, name: string): string =>
  printed
    .split("\n")
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1)
    .trim() ?? ""

const isOn = (printed: string): boolean => valueOf(printed, "Enabled") === "Yes"

const stateOf = (isEnabled: boolean): string => (isEnabled ? "on" : "off")

const addressSetting = (networksetup: string, service: string, kind: "web" | "secureweb", port: number): Setting => {
  const read = [networksetup, `-get${kind}proxy`, service]
  const setState = (isEnabled: boolean): Argv => [networksetup, `-set${kind}proxystate`, service, stateOf(isEnabled)]
  const setting: Setting = {
    name: `${service} ${kind}`,
    read,
    ours: ["Enabled: Yes", `Server: ${proxyHost}`, `Port: ${port}`],
    neutral: "Enabled: No\nServer:\nPort: 0",
    set: () => [[networksetup, `-set${kind}proxy`, service, proxyHost, String(port)], setState(true)],
    undo: (before) => {
      const server = valueOf(before, "Server")
      const portBefore = valueOf(before, "Port") || "0"
      const undo: Argv = [networksetup, `-set${kind}proxy`, service, server, portBefore]
      const ours = { argv: read, lines: [`Server: ${proxyHost}`, `Port: ${port}`] }
      const steps: ReadonlyArray<UndoStep> = [
        // While it is on and ours: where the user turned it off, it stays off.
        ...(isOn(before) ? [] : [run(setState(false), [setting])]),
        { do: "run", argv: undo, onlyIf: [ours], mayFail: server === "" }
      ]
      if (isOn(before)) return steps
      // Setting the address has turned it on.
      const expected = { argv: read, lines: ["Enabled: Yes", `Server: ${server}`, `Port: ${portBefore}`] }
      return [...steps, { do: "run", argv: setState(false), onlyIf: [expected] }]
    }
  }
  return setting
}

/** Domains as they are printed, one a line; a sentence where there are none. */
const domainsIn = (printed: string): ReadonlyArray<string> =>
  printed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.includes(" "))

/** `domainsBefore` is what the service had, because ours is made of it. */
const bypassSetting = (networksetup: string, service: string, domainsBefore: string): Setting => {
  const domains = domainsIn(domainsBefore)
  const ours = [...domains, ...bypass.filter((host) => !domains.includes(host))]
  const set = (list: ReadonlyArray<string>): Argv => [
    networksetup,
    "-setproxybypassdomains",
    service,
    // The word that empties the list.
    ...(list.length === 0 ? ["Empty"] : list)
  ]
  const setting: Setting = {
    name: `${service} bypass`,
    read: [networksetup, "-getproxybypassdomains", service],
    ours,
    neutral: domainsBefore,
    set: () => [set(ours)],
    undo: (before) => [run(set(domainsIn(before)), [setting])]
  }
  return setting
}

/** A PAC file would decide before our address does. */
const automaticSetting = (networksetup: string, service: string): Setting => {
  const setState = (isEnabled: boolean): Argv => [networksetup, "-setautoproxystate", service, stateOf(isEnabled)]
  const setting: Setting = {
    name: `${service} automatic`,
    read: [networksetup, "-getautoproxyurl", service],
    ours: ["Enabled: No"],
    neutral: "Enabled: No",
    set: () => [setState(false)],
    undo: (before) => (isOn(before) ? [run(setState(true), [setting])] : [])
  }
  return setting
}

/** `services` with the domains that each had. */
export const macosPlan = (networksetup: string, services: ReadonlyMap<string, string>, port: number): ProxyPlan => ({
  desktop: "macos",
  settings: Array.from(services, ([service, domains]) => [
    automaticSetting(networksetup, service),
    bypassSetting(networksetup, service, domains),
    addressSetting(networksetup, service, "web", port),
    addressSetting(networksetup, service, "secureweb", port)
  ]).flat(),
  refresh: []
})

export const macosBypass = (networksetup: string, service: string): Argv => [
  networksetup,
  "-getproxybypassdomains",
  service
]
