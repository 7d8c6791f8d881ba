/**
 * Stores of the certificates that systems trust, with the addition and removal of one: pure, as commands and steps. Debian,
 * Alpine: https://manpages.debian.org/update-ca-certificates. Fedora, Arch: https://www.mankier.com/8/update-ca-trust. Firefox
 * and Chromium on Linux (NSS): https://firefox-source-docs.mozilla.org/security/nss/. Java: the man page keytool(1).
 */
import { join } from "node:path"
import type { UndoStep } from "../undo/steps.mjs"

export type Slot = "gateway-tproxy-ca.crt" | "gateway-mitm-ca.crt"

/** A folder of certificates, and a program that makes the bundle of them. */
export interface AnchorStore {
  readonly kind: "anchors"
  readonly folder: string
  /** The program with its arguments. */
  readonly update: ReadonlyArray<string>
  /** File that programs read. */
  readonly bundle: string
  /** Folder in which `update` makes links to the certificates; null where it makes none. */
  readonly links: string | null
  /** Programs that get a line `-<link>` when a certificate goes: they keep stores of their own, such as Java's. */
  readonly hooks: string | null
}

/** macOS and Windows: one command each. */
export interface CommandStore {
  readonly kind: "macos" | "windows"
  /** `security`, `certutil.exe` */
  readonly program: string
}

export type SystemStore = AnchorStore | CommandStore

/** Stores that programs have for themselves. */
export interface ProgramStores {
  /** NSS's certutil with the folders of its databases; null where it is not installed. */
  readonly nss: { readonly certutil: string; readonly folders: ReadonlyArray<string> } | null
  readonly java: { readonly keytool: string; readonly keystores: ReadonlyArray<string> } | null
}

export interface Authority {
  readonly slot: Slot
  readonly pem: string
  /** SHA-256 of the file in the slot: hex. */
  readonly fileSha256: string
  /** SHA-1 of the certificate: 40 hex digits, upper case. */
  readonly sha1: string
}

const keychain = "/Library/Keychains/System.keychain"

/** Password that every Java comes with: not a secret, it only guards against accidents. */
const javaPassword = "changeit"

/** Long enough for the rebuild of Java's store by the hook on a busy machine. */
export const updateMs = 120_000

/** The name in stores that have names. Unlike for each certificate, so that another one is never taken out for it. */
export const nicknameOf = ({ sha1, slot }: Authority): string =>
  `${slot.replace(/\.crt$/u, "")}-${sha1.slice(0, 16).toLowerCase()}`

export const slotFile = (store: AnchorStore, slot: Slot): string => join(store.folder, slot)

/** Puts `source` into the slot in one step and rebuilds. One command, so that a password has to be given once. */
const putScript = 'set -e; umask 022; install -D -m 0644 -- "$1" "$2.new"; mv -f -- "$2.new" "$2"; shift 2; exec "$@"'

export const installCommand = (store: SystemStore, source: string, slot: Slot): ReadonlyArray<string> => {
  switch (store.kind) {
    case "anchors":
      return ["/bin/sh", "-c", putScript, "sh", source, slotFile(store, slot), ...store.update]
    case "macos":
      return [store.program, "add-trusted-cert", "-d", "-r", "trustRoot", "-k", keychain, source]
    case "windows":
      return [store.program, "-addstore", "-f", "ROOT", source]
  }
}

/**
 * Lists the steps that remove it. Removing the file and rebuilding leaves links behind, and the certificate trusted by Java: so the
 * hooks first, then the file, the links, and the rebuild.
 */
const systemSteps = (store: SystemStore, { fileSha256: sha256, sha1, slot }: Authority): ReadonlyArray<UndoStep> => {
  switch (store.kind) {
    case "anchors": {
      const path = slotFile(store, slot)
      return [
        ...(store.hooks === null || store.links === null
          ? []
          : [
              {
                do: "runHooks",
                folder: store.hooks,
                stdin: `-${join(store.links, slot.replace(/\.crt$/u, ".pem"))}\n`,
                timeoutMs: updateMs,
                elevate: true
              } as const
            ]),
        { do: "removeFile", path: `${path}.new`, sha256, elevate: true },
        { do: "removeFile", path, sha256, elevate: true },
        ...(store.links === null
          ? []
          : [{ do: "removeLinks", folder: store.links, target: path, elevate: true } as const]),
        { do: "run", argv: store.update, timeoutMs: updateMs, elevate: true }
      ]
    }
    case "macos":
      return [
        {
          do: "run",
          argv: [store.program, "delete-certificate", "-Z", sha1, keychain],
          elevate: true,
          onlyIf: [{ argv: systemList(store, sha1), lines: [`SHA-1 hash: ${sha1}`] }]
        }
      ]
    case "windows":
      return [{ do: "run", argv: [store.program, "-delstore", "ROOT", sha1], mayFail: true }]
  }
}

/** Prints the certificate's fingerprint where a store without files has it. */
export const systemList = ({ kind, program }: CommandStore, sha1: string): ReadonlyArray<string> =>
  kind === "macos" ? [program, "find-certificate", "-a", "-Z", keychain] : [program, "-store", "ROOT", sha1]

export interface ProgramStore {
  /** Name of the place for people. */
  readonly place: string
  readonly add: ReadonlyArray<string>
  /** Succeeds when it is there. */
  readonly has: ReadonlyArray<string>
  readonly remove: ReadonlyArray<string>
}

export const programStores = (
  { java, nss }: ProgramStores,
  authority: Authority,
  source: string
): ReadonlyArray<ProgramStore> => {
  const name = nicknameOf(authority)
  return [
    ...(nss?.folders ?? []).map((folder): ProgramStore => {
      const database = ["-d", `sql:${folder}`, "-n", name]
      const certutil = nss?.certutil ?? ""
      return {
        place: folder,
        add: [certutil, "-A", ...database, "-t", "C,,", "-i", source],
        has: [certutil, "-L", ...database],
        remove: [certutil, "-D", ...database]
      }
    }),
    ...(java?.keystores ?? []).map((keystore): ProgramStore => {
      const store = ["-keystore", keystore, "-storepass", javaPassword, "-alias", name]
      const keytool = java?.keytool ?? ""
      return {
        place: keystore,
        add: [keytool, "-importcert", "-noprompt", ...store, "-file", source],
        has: [keytool, "-list", ...store],
        remove: [keytool, "-delete", ...store]
      }
    })
  ]
}

const programTimeoutMs = 60_000

/** All steps that make the machine forget an authority, whether it was put everywhere or nowhere yet. */
export const removalSteps = (
  store: SystemStore,
  stores: ReadonlyArray<ProgramStore>,
  authority: Authority
): ReadonlyArray<UndoStep> => [
  ...stores.map(({ remove }): UndoStep => ({
    do: "run",
    argv: remove,
    mayFail: true,
    timeoutMs: programTimeoutMs,
    elevate: false
  })),
  ...systemSteps(store, authority)
]
