import { assert, describe, it } from "@effect/vitest"
import { parseOsRelease } from "../../../../src/platform/HostSystem.ts"
import { daemonPlan, installPlan, type Plan } from "../../../../src/net/tunnels/mesh/InstallPlan.ts"

const linux = (osRelease: string) => ({ platform: "linux", isRoot: false, osRelease: parseOsRelease(osRelease) })
const none = () => false

const commands = (plan: Plan): ReadonlyArray<string> =>
  plan._tag === "Steps" ? plan.steps.map(({ args, program }) => [program, ...args].join(" ")) : []

describe("the plan of an installation", () => {
  it.each([
    [
      'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n',
      "https://pkgs.tailscale.com/stable/debian/bookworm.noarmor.gpg"
    ],
    [
      "ID=ubuntu\nVERSION_CODENAME=noble\nUBUNTU_CODENAME=noble",
      "https://pkgs.tailscale.com/stable/ubuntu/noble.noarmor.gpg"
    ],
    [
      "ID=linuxmint\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble",
      "https://pkgs.tailscale.com/stable/ubuntu/noble.noarmor.gpg"
    ],
    [
      "ID=fedora\nVERSION_ID=42",
      "dnf config-manager addrepo --overwrite --from-repofile=https://pkgs.tailscale.com/stable/fedora/tailscale.repo"
    ],
    [
      "ID=fedora\nVERSION_ID=40",
      "dnf config-manager --add-repo https://pkgs.tailscale.com/stable/fedora/tailscale.repo"
    ],
    ['ID="rhel"\nVERSION_ID="9.4"', "https://pkgs.tailscale.com/stable/rhel/9/tailscale.repo"],
    ['ID="opensuse-leap"\nVERSION_ID="15.6"', "https://pkgs.tailscale.com/stable/opensuse/leap/15.6/tailscale.repo"],
    ["ID=arch", "pacman -S --noconfirm --needed tailscale"],
    ["ID=alpine\nVERSION_ID=3.20.0", "apk add tailscale"]
  ])("uses the package manager: %j", (osRelease, expected) => {
    const all = commands(installPlan(linux(osRelease), none))
    assert.isTrue(
      all.some((command) => command.includes(expected)),
      all.join("\n")
    )
  })

  it("never runs a shell, nor a script of the network", () => {
    const all = [
      "debian\nVERSION_CODENAME=x",
      "fedora\nVERSION_ID=42",
      "arch",
      "alpine",
      "opensuse-tumbleweed"
    ].flatMap((id) => commands(installPlan(linux(`ID=${id}`), none)))
    assert.isAbove(all.length, 10)
    for (const command of all) assert.notMatch(command, /\b(?:sh|bash|curl|wget)\b|install\.sh|\|/u)
  })

  it.each(["ID=nixos", "ID=gentoo", "", "ID=debian", "ID=debian\nVERSION_CODENAME=../../x", "ID=rhel\nVERSION_ID=7.9"])(
    "says what to do where it does not know how: %j",
    (osRelease) => {
      assert.strictEqual(installPlan(linux(osRelease), none)._tag, "Unsupported")
    }
  )

  it("uses Homebrew on macOS, not as root, where it is there", () => {
    const mac = { platform: "darwin", isRoot: false, osRelease: new Map() }
    const plan = installPlan(mac, (name) => name === "brew")
    assert.deepStrictEqual(commands(plan), ["brew install tailscale", "brew services start tailscale"])
    assert.isFalse(plan._tag === "Steps" && plan.steps[0]?.asRoot)
    assert.strictEqual(installPlan(mac, none)._tag, "Unsupported")
  })

  it("starts the daemon by what the system starts services with", () => {
    const debian = linux("ID=debian")
    assert.deepStrictEqual(commands(daemonPlan(debian, (name) => name === "systemctl")), [
      "systemctl enable --now tailscaled"
    ])
    assert.lengthOf(commands(daemonPlan(debian, (name) => name === "rc-service")), 2)
    assert.strictEqual(daemonPlan(debian, none)._tag, "Unsupported")
  })
})
