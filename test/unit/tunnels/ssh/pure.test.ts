import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { algorithmsOf, byPreference, fingerprintOf, readHostKey } from "../../../../src/net/tunnels/ssh/HostKeys.ts"
import { type SshOptions, sshProblem, urlHost } from "../../../../src/net/tunnels/ssh/Options.ts"
import { nothingYet, readLine, reasonOfEnd } from "../../../../src/net/tunnels/ssh/Output.ts"

const valid: SshOptions = { user: "me", host: "ssh.example.org", port: 22, remotePort: 0, hostKey: null }

describe("the options of a tunnel over SSH", () => {
  it("may be names and addresses", () => {
    for (const host of ["a", "ssh.example.org", "ssh.example.org.", "192.0.2.1", "2001:db8::1"]) {
      assert.isNull(sshProblem({ ...valid, host, hostKey: `SHA256:${"a".repeat(43)}` }), host)
    }
    assert.strictEqual(urlHost("2001:db8::1"), "[2001:db8::1]")
    assert.strictEqual(urlHost("a.example."), "a.example")
  })

  it("are never taken for options of ssh, nor broken by spaces and control characters", () => {
    const bad: ReadonlyArray<Partial<SshOptions>> = [
      { user: "-oProxyCommand=x" },
      { user: "" },
      { user: "a b" },
      { user: "a\nb" },
      { user: "a".repeat(65) },
      { host: "-l" },
      { host: "" },
      { host: "a b" },
      { host: "a\u0000" },
      { host: "[::1]" },
      { host: "a..b" },
      { host: "a/b" },
      { host: "%h" },
      { host: "fe80::1%eth0" },
      { host: "a".repeat(254) },
      { port: 0 },
      { port: 65_536 },
      { port: 22.5 },
      { remotePort: -1 },
      { hostKey: "SHA256:short" },
      { hostKey: `SHA256:${"a".repeat(44)}` }
    ]
    for (const more of bad) assert.strictEqual(sshProblem({ ...valid, ...more })?.field, Object.keys(more)[0])
  })

  it("hold no text with a mark that a shell or ssh reads", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "binary" }), FastCheck.string({ unit: "binary" }), (user, host) => {
        if (sshProblem({ ...valid, user, host }) !== null) return
        assert.match(user, /^[A-Za-z0-9_][\w.@+-]*$/)
        assert.match(host, /^[A-Za-z0-9:][\w.:-]*$/)
      }),
      { numRuns: 30 }
    )
  })
})

describe("host keys", () => {
  const blob = "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

  it("are read from the lines of ssh-keyscan, and have the fingerprint of ssh-keygen", () => {
    const key = readHostKey(`[127.0.0.1]:2222 ssh-ed25519 ${blob}`)
    // GitHub's: https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/githubs-ssh-key-fingerprints
    assert.strictEqual(key === null ? null : fingerprintOf(key), "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU")
  })

  it("are not read from comments, unknown types and damaged lines", () => {
    for (const line of [
      "",
      "# host SSH-2.0",
      `@revoked * ssh-ed25519 ${blob}`,
      `h ssh-dss ${blob}`,
      "h ssh-rsa ?",
      "h ssh-rsa"
    ]) {
      assert.isNull(readHostKey(line), line)
    }
    assert.isNull(readHostKey(`h ssh-rsa ${"A".repeat(5_000)}`))
  })

  it("are asked for by their type, the best first", () => {
    const types = byPreference(["ssh-rsa", "ssh-ed25519"].map((type) => ({ type, blob }))).map((key) => key.type)
    assert.deepStrictEqual(types, ["ssh-ed25519", "ssh-rsa"])
    assert.strictEqual(algorithmsOf({ type: "ssh-rsa", blob }), "rsa-sha2-512,rsa-sha2-256")
  })
})

describe("the output of ssh", () => {
  const read = (...lines: ReadonlyArray<string>) => lines.reduce(readLine, nothingYet)

  it("gives the port that the server has chosen, or the one that was asked for", () => {
    assert.strictEqual(read("Allocated port 40123 for remote forward to 127.0.0.1:8080").remotePort, 40123)
    assert.strictEqual(read("debug1: remote forward success for: listen *:8443, connect 127.0.0.1:80").remotePort, 8443)
    assert.strictEqual(read("debug1: remote forward success for: listen 8443, connect 127.0.0.1:80").remotePort, 8443)
    assert.isNull(read("debug1: remote forward failure for: listen 8443, connect 127.0.0.1:80").remotePort)
    assert.isNull(
      read("Allocated port 0 for remote forward to x", "Allocated port 70000 for remote forward to x").remotePort
    )
  })

  it("tells the ends apart", () => {
    assert.strictEqual(read("me@host: Permission denied (publickey).").end, "refusedKey")
    assert.strictEqual(read("Host key verification failed.").end, "wrongHostKey")
    assert.strictEqual(read("Error: remote port forwarding failed for listen port 80").end, "refusedForward")
    const output = read(
      "debug1: Permission denied (x)",
      "ssh: connect to host h port 22: Connection refused",
      "debug1: x"
    )
    assert.isNull(output.end)
    assert.strictEqual(
      reasonOfEnd(output, "ended with 255"),
      "ssh ended with 255: ssh: connect to host h port 22: Connection refused."
    )
  })
})
