import { assert, describe, it } from "@effect/vitest"
import { isMarkUsed, planOf, revertOf, type RuleStep } from "../../../../src/observe/capture/transparent/Rules.ts"
import { defaultSettings, problemsOf } from "../../../../src/observe/capture/transparent/Settings.ts"

const lines = (steps: ReadonlyArray<RuleStep>): ReadonlyArray<string> => steps.map(({ apply }) => apply.argv.join(" "))
const undone = (steps: ReadonlyArray<RuleStep>): ReadonlyArray<string> =>
  revertOf(steps).map(({ argv }) => argv.join(" "))

describe("the plan of rules", () => {
  it("routes marked packets to this machine, hands them to the listener, and marks connections last", () => {
    assert.deepStrictEqual(lines(planOf("iptables", defaultSettings, [4])), [
      "ip -4 rule add pref 23300 fwmark 0x2333 lookup 233",
      "ip -4 route add local 0.0.0.0/0 dev lo table 233",
      "iptables -w 5 -t mangle -A OUTPUT -p tcp --dport 443 -m connmark --mark 0x2333 -j MARK --set-mark 0x2333",
      "iptables -w 5 -t mangle -A PREROUTING -p tcp --dport 443 -m mark --mark 0x2333 -j TPROXY --on-port 8443 --on-ip 127.0.0.1 --tproxy-mark 0x2333",
      "iptables -w 5 -t mangle -I OUTPUT -p tcp --dport 443 ! -d 127.0.0.0/8 --syn -m mark ! --mark 0x539 -j CONNMARK --set-mark 0x2333"
    ])
  })

  it("takes back in reverse order what it made, for both families", () => {
    const plan = planOf("iptables", defaultSettings, [4, 6])
    assert.lengthOf(plan, 10)
    assert.deepStrictEqual(
      undone(plan),
      lines(plan)
        .map((line) =>
          line.replace(/ (?:rule|route) add /u, (words) => words.replace("add", "del")).replace(/ -[AI] /u, " -D ")
        )
        .toReversed()
    )
    assert.include(
      lines(plan).join("\n"),
      "ip6tables -w 5 -t mangle -A PREROUTING -p tcp --dport 443 -m mark --mark 0x2333 -j TPROXY --on-port 8443 --on-ip ::1"
    )
    assert.include(lines(plan).join("\n"), "ip -6 route add local ::/0 dev lo table 233")
  })

  it("is one table of nft, removed as a whole", () => {
    const plan = planOf("nft", { ...defaultSettings, dport: 8443, onPort: 9000 }, [4])
    assert.deepStrictEqual(undone(plan).slice(0, 1), ["nft delete table inet gateway_tproxy"])
    const table = plan.at(-1)?.apply.stdin ?? ""
    assert.include(table, "type route hook output priority mangle;")
    assert.include(table, "tproxy ip to 127.0.0.1:9000")
    assert.notInclude(table, "ip6")
    assert.include(planOf("nft", defaultSettings, [4, 6]).at(-1)?.apply.stdin ?? "", "tproxy ip6 to [::1]:8443")
  })

  it("finds a mark in rules of others, however it is written, and no other", () => {
    for (const rules of [
      "100:\tfrom all fwmark 0x2333 lookup 50",
      "100:\tfrom all fwmark 0x2333/0xffff lookup 50",
      "-A PREROUTING -j MARK --set-xmark 0x2333/0xffffffff",
      "-A OUTPUT -m mark --mark 9011 -j RETURN",
      "23300:\tfrom all lookup 9"
    ]) {
      assert.isTrue(isMarkUsed(`0:\tfrom all lookup local\n${rules}\n`, 0x2333), rules)
    }
    for (const rules of [
      "100: from all fwmark 0x23331 lookup 50",
      "100: from all fwmark 0x233 lookup 50",
      "2330: from all lookup 9011"
    ]) {
      assert.isFalse(isMarkUsed(rules, 0x2333), rules)
    }
  })
})

describe("settings of the transparent mode", () => {
  it("takes the defaults and the bounds", () => {
    assert.deepStrictEqual(problemsOf(defaultSettings), [])
    assert.deepStrictEqual(
      problemsOf({ dport: 65_535, mark: 0xffff_ffff, onPort: 1, routeTable: 1, bypassMark: 1 }),
      []
    )
  })

  it.each([
    [{ dport: 0 }, ["dport"]],
    [{ dport: 65_536 }, ["dport"]],
    [{ onPort: 0 }, ["onPort"]],
    [{ onPort: 1.5 }, ["onPort"]],
    [{ mark: 0 }, ["mark"]],
    [{ mark: 2 ** 32 }, ["mark"]],
    [{ bypassMark: -1 }, ["bypassMark"]],
    [{ bypassMark: defaultSettings.mark }, ["bypassMark"]],
    [{ routeTable: 0 }, ["routeTable"]],
    [{ routeTable: 254 }, ["routeTable"]],
    [{ dport: Number.NaN, onPort: Infinity }, ["dport", "onPort"]]
  ])("refuses %j", (values, fields) => {
    assert.deepStrictEqual(
      problemsOf({ ...defaultSettings, ...values }).map(({ field }) => field),
      fields as Array<keyof typeof defaultSettings>
    )
  })
})
