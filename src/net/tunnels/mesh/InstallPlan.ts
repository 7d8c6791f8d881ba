/**
 * Plan to install and start Tailscale on a system: data, made of the system's description of itself. By the package manager, as
 * documented, and never by a script of the network: https://pkgs.tailscale.com/stable/, https://tailscale.com/kb/1031/install-linux
 */
import type { HostSystem } from "../../../platform/HostSystem.ts"

export interface PlanStep {
  /** Name of the step for programs. */
  readonly step: "prepare" | "key" | "source" | "update" | "install" | "start"
  /** Description of the step for people. */
  readonly message: string
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly asRoot: boolean
}

/** `advice`: what a person can do where the gateway can do nothing. */
export type Plan =
  | { readonly _tag: "Steps"; readonly steps: ReadonlyArray<PlanStep> }
  | { readonly _tag: "Unsupported"; readonly advice: string }

const packages = "https://pkgs.tailscale.com/stable"

const root = (step: PlanStep["step"], message: string, program: string, ...args: ReadonlyArray<string>): PlanStep => ({
  step,
  message,
  program,
  args,
  asRoot: true
})

const steps = (...all: ReadonlyArray<PlanStep>): Plan => ({ _tag: "Steps", steps: all })

const startBySystemd = root("start", "Starting the daemon", "systemctl", "enable", "--now", "tailscaled")
const startByOpenRc: ReadonlyArray<PlanStep> = [
  root("start", "Starting the daemon at every boot", "rc-update", "add", "tailscale"),
  root("start", "Starting the daemon", "rc-service", "tailscale", "start")
]
const startByBrew = root("start", "Starting the daemon", "brew", "services", "start", "tailscale")

/** Part of apt: downloads by HTTPS, as apt does. */
const aptHelper = "/usr/lib/apt/apt-helper"
const keyFile = "/usr/share/keyrings/tailscale-archive-keyring.gpg"
const sourceFile = "/etc/apt/sources.list.d/tailscale.list"

const byApt = (distribution: string, codename: string): Plan => {
  const at = `${packages}/${distribution}/${codename}`
  return steps(
    root("prepare", "Preparing the folder of keys", "mkdir", "-p", "--mode=0755", "/usr/share/keyrings"),
    root("key", "Fetching the key of the packages", aptHelper, "download-file", `${at}.noarmor.gpg`, keyFile),
    root(
      "source",
      "Adding the source of the packages",
      aptHelper,
      "download-file",
      `${at}.tailscale-keyring.list`,
      sourceFile
    ),
    root("source", "Making both readable", "chmod", "0644", keyFile, sourceFile),
    root("update", "Reading the lists of packages", "apt-get", "update"),
    root(
      "install",
      "Installing Tailscale",
      "env",
      "DEBIAN_FRONTEND=noninteractive",
      "apt-get",
      "install",
      "-y",
      "tailscale",
      "tailscale-archive-keyring"
    ),
    startBySystemd
  )
}

/** Version 5 of dnf, which came with Fedora 41, adds sources in another way. */
const byDnf = (path: string, isVersion5: boolean): Plan => {
  const repository = `${packages}/${path}/tailscale.repo`
  return steps(
    root("prepare", "Preparing the package manager", "dnf", "install", "-y", "dnf-command(config-manager)"),
    root(
      "source",
      "Adding the source of the packages",
      "dnf",
      "config-manager",
      ...(isVersion5 ? ["addrepo", "--overwrite", `--from-repofile=${repository}`] : ["--add-repo", repository])
    ),
    root("install", "Installing Tailscale", "dnf", "install", "-y", "tailscale"),
    startBySystemd
  )
}

const byZypper = (path: string): Plan =>
  steps(
    root("key", "Fetching the key of the packages", "rpm", "--import", `${packages}/${path}/repo.gpg`),
    root(
      "source",
      "Adding the source of the packages",
      "zypper",
      "--non-interactive",
      "addrepo",
      "--gpgcheck",
      "--refresh",
      `${packages}/${path}/tailscale.repo`
    ),
    root("update", "Reading the lists of packages", "zypper", "--non-interactive", "--gpg-auto-import-keys", "refresh"),
    root("install", "Installing Tailscale", "zypper", "--non-interactive", "install", "tailscale"),
    startBySystemd
  )

const unsupported = (advice: string): Plan => ({ _tag: "Unsupported", advice })

const unknownLinux = unsupported(
  "The gateway does not know how Tailscale is installed on this Linux. See https://tailscale.com/download/linux."
)

/** Becomes a part of an address: nothing but letters, digits, dots and hyphens. */
const plain = (text: string | undefined): string | null =>
  text !== undefined && /^[a-z0-9][a-z0-9.-]{0,31}$/.test(text) ? text : null

const linuxPlan = (osRelease: HostSystem["osRelease"]): Plan => {
  const id = plain(osRelease.get("ID")) ?? ""
  const version = plain(osRelease.get("VERSION_ID"))
  const codename = plain(osRelease.get("VERSION_CODENAME"))
  const ubuntu = plain(osRelease.get("UBUNTU_CODENAME"))
  const major = Number(version?.split(".", 1)[0] ?? Number.NaN)
  switch (id) {
    case "debian":
    case "raspbian":
      return codename === null ? unknownLinux : byApt(id, codename)
    case "ubuntu":
    case "pop":
    case "neon":
    case "zorin":
    case "linuxmint":
    case "elementary": {
      const name = ubuntu ?? codename
      return name === null ? unknownLinux : byApt("ubuntu", name)
    }
    case "fedora":
      return byDnf("fedora", major >= 41)
    case "rocky":
    case "almalinux":
      return byDnf("fedora", false)
    case "centos":
    case "rhel":
      return Number.isNaN(major) || major < 8 ? unknownLinux : byDnf(`${id}/${major}`, false)
    case "ol":
      return Number.isNaN(major) || major < 8 ? unknownLinux : byDnf(`oracle/${major}`, false)
    case "opensuse-leap":
      return version === null ? unknownLinux : byZypper(`opensuse/leap/${version}`)
    case "opensuse-tumbleweed":
      return byZypper("opensuse/tumbleweed")
    case "arch":
    case "archarm":
    case "endeavouros":
    case "cachyos":
    case "manjaro":
      return steps(
        root("install", "Installing Tailscale", "pacman", "-S", "--noconfirm", "--needed", "tailscale"),
        startBySystemd
      )
    case "alpine":
    case "postmarketos":
      return steps(root("install", "Installing Tailscale", "apk", "add", "tailscale"), ...startByOpenRc)
    case "nixos":
      return unsupported("On NixOS Tailscale is part of the configuration: services.tailscale.enable = true;")
    default:
      return unknownLinux
  }
}

const noBrew = unsupported(
  "Install Tailscale from https://tailscale.com/download/mac, or Homebrew from https://brew.sh and try again."
)

/** `has`: whether a program of that name is on this machine. */
export const installPlan = ({ osRelease, platform }: HostSystem, has: (program: string) => boolean): Plan => {
  if (platform === "linux") return linuxPlan(osRelease)
  if (platform === "darwin") {
    // Homebrew refuses to run as root.
    const install: PlanStep = {
      step: "install",
      message: "Installing Tailscale",
      program: "brew",
      args: ["install", "tailscale"],
      asRoot: false
    }
    return has("brew") ? steps(install, startByBrew) : noBrew
  }
  return unsupported("Install Tailscale from https://tailscale.com/download.")
}

export const daemonPlan = ({ platform }: HostSystem, has: (program: string) => boolean): Plan => {
  if (platform === "darwin") return has("brew") ? steps(startByBrew) : unsupported("Open the Tailscale app.")
  if (platform === "linux" && has("systemctl")) return steps(startBySystemd)
  if (platform === "linux" && has("rc-service")) return steps(...startByOpenRc)
  return unsupported("Start the daemon of Tailscale, 'tailscaled', as your system starts its services.")
}
