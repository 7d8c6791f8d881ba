/** Programs that hold the proxy settings of desktops, with real state in a file each. They stand for `gsettings` and the others on `PATH`. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const script = (name: string): string => fileURLToPath(new URL(`./desktop/${name}.sh`, import.meta.url))

const install = (folder: string, from: string, program: string): void => {
  writeFileSync(join(folder, program), readFileSync(script(from)), { mode: 0o755 })
}

export interface FakeState {
  readonly read: () => string
  readonly write: (text: string) => void
  /** Replaces a part of it, as a person would by the settings dialog. */
  readonly edit: (from: string, to: string) => void
}

const stateIn = (folder: string, name: string, text: string): FakeState => {
  const file = join(folder, name)
  const state: FakeState = {
    read: () => readFileSync(file, "utf8"),
    write: (next) => writeFileSync(file, next),
    edit: (from, to) => {
      const before = state.read()
      if (!before.includes(from)) throw new Error(`${from} is not in ${before}`)
      state.write(before.replace(from, to))
    }
  }
  state.write(text)
  return state
}

const sorted = (lines: ReadonlyArray<string>): string => `${[...lines].sort().join("\n")}\n`

export const fakeGnome = (folder: string, mode = "'none'"): FakeState => {
  install(folder, "gsettings", "gsettings")
  const schema = "org.gnome.system.proxy"
  return stateIn(
    folder,
    "gsettings.state",
    sorted([
      `${schema} mode ${mode}`,
      `${schema} autoconfig-url 'http://pac.example/proxy.pac'`,
      `${schema} ignore-hosts ['localhost', 'intranet.example']`,
      `${schema}.http host 'old.example'`,
      `${schema}.http port 3128`,
      `${schema}.https host ''`,
      `${schema}.https port 0`
    ])
  )
}

export const fakeMacos = (folder: string): FakeState => {
  install(folder, "networksetup", "networksetup")
  return stateIn(
    folder,
    "networksetup.state",
    sorted([
      "USB 10/100 LAN|automatic|Yes|http://pac.example/proxy.pac|",
      "USB 10/100 LAN|bypass||*.local,169.254/16|",
      "USB 10/100 LAN|secureweb|Yes|corp.example|8443",
      "USB 10/100 LAN|web|No|corp.example|8080",
      "Wi-Fi|automatic|No||",
      "Wi-Fi|bypass|||",
      "Wi-Fi|secureweb|No||0",
      "Wi-Fi|web|No||0"
    ])
  )
}

export const fakeKde = (folder: string): FakeState => {
  for (const program of ["kreadconfig6", "kwriteconfig6"]) install(folder, "kconfig", program)
  return stateIn(
    folder,
    "kioslaverc.state",
    sorted(["NoProxyFor=", "Proxy Config Script=http://pac.example", "ProxyType=2"])
  )
}

export const fakeWindows = (folder: string): FakeState => {
  install(folder, "reg", "reg")
  return stateIn(
    folder,
    "reg.state",
    sorted([
      "AutoConfigURL|REG_SZ|http://pac.example/proxy.pac",
      "ProxyEnable|REG_DWORD|0",
      "ProxyServer|REG_SZ|old.example:3128",
      "User Agent|REG_SZ|Mozilla/4.0 (compatible; MSIE 8.0; Win32)"
    ])
  )
}
