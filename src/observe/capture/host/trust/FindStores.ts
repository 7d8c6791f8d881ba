/** Finds the stores of trusted certificates on this machine. */
import { existsSync, readdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { findProgram } from "../HostPrograms.ts"
import type { ProgramStores, SystemStore } from "./Stores.ts"

type Environment = ReadonlyMap<string, string>

const maxProfiles = 20

const fedora = "/etc/pki/ca-trust/source/anchors"
const arch = "/etc/ca-certificates/trust-source/anchors"

/** Null where the gateway knows none. */
export const findSystemStore = (environment: Environment, platform: NodeJS.Platform): SystemStore | null => {
  if (platform === "darwin" || platform === "win32") {
    const program = findProgram(environment, platform === "darwin" ? "security" : "certutil")
    return program === null ? null : { kind: platform === "darwin" ? "macos" : "windows", program }
  }
  const update = findProgram(environment, "update-ca-certificates")
  if (update !== null) {
    return {
      kind: "anchors",
      folder: "/usr/local/share/ca-certificates",
      update: [update],
      bundle: "/etc/ssl/certs/ca-certificates.crt",
      links: "/etc/ssl/certs",
      hooks: "/etc/ca-certificates/update.d"
    }
  }
  const trust = findProgram(environment, "update-ca-trust")
  if (trust === null) return null
  const common = { kind: "anchors", update: [trust], links: null, hooks: null } as const
  if (existsSync(fedora)) {
    return { ...common, folder: fedora, bundle: "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem" }
  }
  return existsSync(arch)
    ? { ...common, folder: arch, bundle: "/etc/ca-certificates/extracted/tls-ca-bundle.pem" }
    : null
}

const profilesIn = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
      .map((name) => join(folder, name))
      .filter((path) => existsSync(join(path, "cert9.db")))
      .slice(0, maxProfiles)
  } catch {
    return []
  }
}

/** Databases of browsers, and the store of the Java in `JAVA_HOME` where the system's programs do not keep it already. */
export const findProgramStores = (environment: Environment, platform: NodeJS.Platform): ProgramStores => {
  const home = environment.get("HOME") ?? ""
  const certutil = platform === "linux" ? findProgram(environment, "certutil") : null
  const folders = [join(home, ".pki/nssdb"), join(home, "snap/chromium/current/.pki/nssdb")].filter((path) =>
    existsSync(join(path, "cert9.db"))
  )
  const javaHome = environment.get("JAVA_HOME")
  const keytool =
    javaHome === undefined ? null : join(javaHome, "bin", platform === "win32" ? "keytool.exe" : "keytool")
  const keystore = javaHome === undefined ? "" : join(javaHome, "lib/security/cacerts")
  const hasOwn = existsSync(keystore) && !realpathSync(keystore).startsWith("/etc/")
  return {
    nss: certutil === null ? null : { certutil, folders: [...folders, ...profilesIn(join(home, ".mozilla/firefox"))] },
    java: keytool === null || !hasOwn || !existsSync(keytool) ? null : { keytool, keystores: [keystore] }
  }
}
