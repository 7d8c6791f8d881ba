/**
 * KDE: the group `Proxy Settings` of kioslaverc. `ProxyType`: 0 none, 1 these addresses, 2 a PAC file, 3 found by itself, 4 environment.
 * https://invent.kde.org/frameworks/kio, `KProtocolManager`
 */
import { type Argv, neverProxied, proxyHost, type ProxyPlan, run, type Setting } from "./Plan.ts"

export interface KdePrograms {
  /** kreadconfig6 or kreadconfig5. */
  readonly read: string
  /** kwriteconfig of the same version. */
  readonly write: string
  /** dbus-send; null where there is none: programs then notice at their next start. */
  readonly dbusSend: string | null
}

/** Printed for a key that is not there. */
const absent = "gateway:absent"
const group = ["--file", "kioslaverc", "--group", "Proxy Settings", "--key"]

export const kdePlan = ({ dbusSend, read, write }: KdePrograms, port: number): ProxyPlan => {
  const setTo = (key: string, value: string): Argv => [write, ...group, key, value]

  const plain = (key: string, ours: string): Setting => {
    const setting: Setting = {
      name: key,
      read: [read, ...group, key, "--default", absent],
      ours: [ours],
      neutral: absent,
      set: () => [setTo(key, ours)],
      undo: (printed) => {
        const before = printed.replace(/\n$/u, "")
        const undo = before === absent ? [write, ...group, key, "--delete", ""] : setTo(key, before)
        return [run(undo, [setting])]
      }
    }
    return setting
  }

  const http = plain("httpProxy", `http://${proxyHost} ${port}`)
  const type = plain("ProxyType", "1")
  return {
    desktop: "kde",
    settings: [
      http,
      plain("httpsProxy", `http://${proxyHost} ${port}`),
      plain("NoProxyFor", neverProxied.join(",")),
      {
        ...type,
        // The user has named another proxy since, so it stays.
        undo: (before) => type.undo(before).map((step) => (step.do === "run" ? run(step.argv, [type, http]) : step))
      }
    ],
    refresh:
      dbusSend === null
        ? []
        : [[dbusSend, "--type=signal", "/KIO/Scheduler", "org.kde.KIO.Scheduler.reparseSlaveConfiguration", "string:"]]
  }
}
