/** A trust store of its own for tests, kept by the system's real update-ca-certificates, and certificates made by the real openssl. */
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, lstatSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { AnchorStore } from "../../src/observe/capture/host/trust/Stores.ts"

const update = "/usr/sbin/update-ca-certificates"

export const hasTools = existsSync(update) && spawnSync("openssl", ["version"]).status === 0

export const hasNss = spawnSync("certutil", ["-H"]).error === undefined
export const hasKeytool = spawnSync("keytool", ["-help"]).error === undefined

export const makeAuthority = (folder: string, name: string): string => {
  const file = join(folder, `${name}.pem`)
  execFileSync(
    "openssl",
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 10 -addext basicConstraints=critical,CA:TRUE`
      .split(" ")
      .concat("-keyout", join(folder, `${name}.key`), "-out", file, "-subj", `/CN=${name}`),
    { stdio: "ignore" }
  )
  return readFileSync(file, "utf8")
}

/** Keeps a store of its own by the lines of its input, as the hook of ca-certificates-java does. */
const hook = (state: string): string => `#!/bin/sh
while read -r line; do
  name="\${line##*/}"
  case "$line" in
    +*) echo "$name" >> "${state}" ;;
    -*) grep -vxF "$name" "${state}" > "${state}.$$"; mv "${state}.$$" "${state}" ;;
  esac
done
exit 0
`

export interface TrustFolders {
  readonly store: AnchorStore
  /** State of the hook. */
  readonly hookState: string
  /** All files and links below the store, with their contents. */
  readonly snapshot: () => Readonly<Record<string, string>>
}

export const makeTrustFolders = (root: string, name = "Store"): TrustFolders => {
  const folders = {
    certs: join(root, "share"),
    local: join(root, "local"),
    etc: join(root, "etc-certs"),
    hooks: join(root, "hooks")
  }
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true })
  const made = join(root, "made")
  mkdirSync(made)
  writeFileSync(join(folders.certs, "public.crt"), makeAuthority(made, `${name} public`))
  writeFileSync(join(folders.local, "company.crt"), makeAuthority(made, `${name} company`))
  const config = join(root, "ca-certificates.conf")
  writeFileSync(config, "public.crt\n")
  const hookState = join(root, "hook.state")
  writeFileSync(hookState, "")
  writeFileSync(join(folders.hooks, "keystore"), hook(hookState), { mode: 0o755 })
  const store: AnchorStore = {
    kind: "anchors",
    folder: folders.local,
    update: [update].concat(
      ["--certsconf", config, "--certsdir", folders.certs, "--localcertsdir", folders.local],
      ["--etccertsdir", folders.etc, "--hooksdir", folders.hooks]
    ),
    bundle: join(folders.etc, "ca-certificates.crt"),
    links: folders.etc,
    hooks: folders.hooks
  }
  execFileSync(update, store.update.slice(1), { stdio: "ignore" })
  const contents = (folder: string): ReadonlyArray<readonly [string, string]> =>
    readdirSync(folder).map((entry) => {
      const path = join(folder, entry)
      return [path, lstatSync(path).isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path, "utf8")] as const
    })
  return {
    store,
    hookState,
    snapshot: () =>
      Object.fromEntries([
        ...contents(folders.local),
        ...contents(folders.etc),
        [hookState, readFileSync(hookState, "utf8")]
      ])
  }
}
