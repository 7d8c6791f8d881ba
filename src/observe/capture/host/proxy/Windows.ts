/**
 * Windows: the values of `Internet Settings` in the user's registry. A value that is not there is something else than an empty one.
 * `AutoConfigURL` (a PAC file) would decide first, so it is removed and restored.
 * https://learn.microsoft.com/windows/win32/wininet/option-flags
 */
import { type Argv, proxyHost, type ProxyPlan, run, type Setting } from "./Plan.ts"

const key = "HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Internet Settings"

/** INTERNET_OPTION_SETTINGS_CHANGED (39) and INTERNET_OPTION_REFRESH (37): else running programs keep the old values. */
const refreshScript =
  "$t=Add-Type -PassThru -Namespace G -Name W -MemberDefinition " +
  "'[DllImport(\"wininet.dll\")] public static extern bool InternetSetOption(IntPtr h,int o,IntPtr b,int l);';" +
  "[void]$t::InternetSetOption(0,39,0,0);[void]$t::InternetSetOption(0,37,0,0)"

export interface WindowsPrograms {
  /** reg.exe */
  readonly reg: string
  /** powershell.exe; null where there is none. */
  readonly powershell: string | null
}

interface Value {
  readonly type: string
  readonly data: string
}

/** One line of `reg query`: name, type and data with four spaces between them. Null: the value is not there. */
export const readValue = (printed: string, name: string): Value | null => {
  const line = printed.split(/\r?\n/u).find((text) => text.trim().startsWith(`${name} `))
  const found = line === undefined ? null : /^\s*\S+\s+(REG_\w+)(?:\s{1,4}(.*))?$/u.exec(line)
  return found === null ? null : { type: found[1] ?? "", data: (found[2] ?? "").trim() }
}

export const windowsPlan = ({ powershell, reg }: WindowsPrograms, port: number): ProxyPlan => {
  // All values: the query of one that is not there fails, and would look like a failure.
  const read = [reg, "query", key]
  const add = (name: string, { data, type }: Value): Argv => [reg, "add", key, "/v", name, "/t", type, "/d", data, "/f"]
  const remove = (name: string): Argv => [reg, "delete", key, "/v", name, "/f"]

  const plain = (name: string, type: string, data: string, printed: string): Setting => {
    const setting: Setting = {
      name,
      read,
      ours: [`${name} ${type} ${printed}`],
      neutral: "",
      set: () => [add(name, { type, data })],
      undo: (text) => {
        const before = readValue(text, name)
        return [run(before === null ? remove(name) : add(name, before), [setting])]
      }
    }
    return setting
  }

  const server = plain("ProxyServer", "REG_SZ", `${proxyHost}:${port}`, `${proxyHost}:${port}`)
  const automatic: Setting = {
    name: "AutoConfigURL",
    read,
    ours: [],
    oursWithout: "AutoConfigURL ",
    neutral: "",
    set: (before) => (readValue(before, "AutoConfigURL") === null ? [] : [remove("AutoConfigURL")]),
    undo: (text) => {
      const before = readValue(text, "AutoConfigURL")
      return before === null ? [] : [run(add("AutoConfigURL", before), [automatic, server])]
    }
  }
  const enable = plain("ProxyEnable", "REG_DWORD", "1", "0x1")
  return {
    desktop: "windows",
    settings: [
      server,
      plain("ProxyOverride", "REG_SZ", "localhost;127.*;[::1];<local>", "localhost;127.*;[::1];<local>"),
      automatic,
      {
        ...enable,
        undo: (before) =>
          enable.undo(before).map((step) => (step.do === "run" ? run(step.argv, [enable, server]) : step))
      }
    ],
    refresh: powershell === null ? [] : [[powershell, "-NoProfile", "-NonInteractive", "-Command", refreshScript]]
  }
}
