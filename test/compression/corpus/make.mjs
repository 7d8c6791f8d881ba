/**
 * Makes the corpus anew: runs real programs in temporary folders and in this repository and writes their outputs, with the folders of this
 * machine replaced. `node test/compression/corpus/make.mjs`
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { homedir, hostname, tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "")
const work = mkdtempSync(join(tmpdir(), "corpus-"))
const most = 24_000
const outputs = []

const neutral = (text) =>
  text
    .replaceAll(work, "/tmp/work")
    .replaceAll(root, "/repo")
    .replaceAll(homedir(), "/srv/user")
    .replaceAll(hostname(), "host")
    .replaceAll(new RegExp(`\\b${userInfo().username}\\b`, "g"), "user")
    .replaceAll(/[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[a-z]{2,}/g, "someone@example.com")

const run = (command, folder = root) => {
  const { stderr, stdout } = spawnSync("bash", ["-c", command], {
    cwd: folder,
    encoding: "utf8",
    timeout: 3_000,
    maxBuffer: 8_000_000,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      LANG: "C.UTF-8",
      PAGER: "cat",
      GIT_PAGER: "cat",
      NO_COLOR: ""
    }
  })
  let text = neutral(`${stdout}${stderr}`)
  // Whole lines, so that no output is larger than the corpus can carry.
  if (text.length > most) text = text.slice(0, text.lastIndexOf("\n", most) + 1)
  if (text.trim() !== "") outputs.push({ command: neutral(command), text })
}

const file = (path, text) => {
  mkdirSync(join(work, path, ".."), { recursive: true })
  writeFileSync(join(work, path), text)
}

try {
  for (const count of [1, 3, 10, 30, 60]) {
    run(`git log -${count}`)
    run(`git log --oneline -${count * 3}`)
    run(`git log --stat -${Math.min(count, 12)}`)
    run(`git show --stat HEAD~${count}`)
    run(`git diff HEAD~${count} HEAD~${count - 1}`)
  }
  for (const folder of [
    "src",
    "src/store",
    "src/kernel",
    "src/inference",
    "src/routing",
    "test/unit",
    "docs",
    "src/wire",
    "src/http",
    "src/api"
  ]) {
    run(`ls -la ${folder}`)
    run(`ls -R ${folder}`)
    run(`find ${folder} -name '*.ts'`)
    run(`du -a ${folder}`)
    run(`grep -rn 'readonly' ${folder} | head -150`)
    run(`grep -rnE 'error|fail' ${folder} | head -100`)
    run(`wc -l ${folder}/*`)
    run(`git log --oneline -20 -- ${folder}`)
    run(`stat ${folder}`)
  }
  for (const name of [
    "package.json",
    "README.md",
    "CHANGELOG.md",
    "tsconfig.json",
    "src/kernel/Tar.ts",
    "src/store/Table.ts"
  ]) {
    run(`cat ${name}`)
    run(`head -50 ${name}`)
    run(`git blame ${name} | head -60`)
    run(`sed -n 1,80p ${name}`)
  }
  run("npm ls --depth=0")
  run("npm ls --depth=1")
  run("npm ls nothing-like-this")
  run("npm run nothing-like-this")
  run("npm pkg get dependencies")
  run("node_modules/.bin/oxlint src/kernel")
  run("node_modules/.bin/oxfmt --check src/kernel")
  for (const command of ["ps", "df -h", "df", "free -m", "uptime", "lscpu", "uname -a", "lsblk"]) run(command)
  file("c/a.c", '#include <stdio.h>\n#include "b.h"\nint main(void) { int x = "text"; undeclared(); return y; }\n')
  file("c/b.h", "int twice(int value);\nint unused(void) { }\n")
  file(
    "c/Makefile",
    "all: a\na: a.o\n\tgcc -o a a.o\na.o: a.c b.h\n\tgcc -Wall -Wextra -c a.c\nok:\n\t@for i in 1 2 3 4 5 6 7 8 9; do echo gcc -O2 -c file$$i.c; done\n"
  )
  for (const command of [
    "gcc -Wall -Wextra -c a.c",
    "make",
    "make ok",
    "make -k all",
    "make nothing",
    "gcc nothing.c",
    "cpp b.h"
  ])
    run(command, join(work, "c"))
  file(
    "py/test_all.py",
    Array.from({ length: 40 }, (_, at) => `def test_case_${at}():\n    assert ${at} % 13 != 12, "value ${at}"\n`).join(
      "\n"
    )
  )
  file("py/bad.py", "import json\ndef parse(text):\n    return json.loads(text)\nparse('{')\n")
  file(
    "py/unit.py",
    "import unittest\nclass T(unittest.TestCase):\n" +
      Array.from({ length: 20 }, (_, at) => `    def test_${at}(self):\n        self.assertNotEqual(${at}, 7)\n`).join(
        ""
      )
  )
  for (const command of [
    "python3 -m pytest -v",
    "python3 -m pytest -q",
    "python3 -m pytest",
    "python3 bad.py",
    "python3 -m unittest -v unit",
    "python3 -m unittest unit",
    "python3 -c 'import nothing'",
    "pip list",
    "pip show pip",
    "python3 --help"
  ])
    run(command, join(work, "py"))
  file(
    "js/a.test.mjs",
    'import { test } from "node:test"\nimport assert from "node:assert"\n' +
      Array.from(
        { length: 30 },
        (_, at) => `test("case ${at} handles errors", () => assert.notStrictEqual(${at}, 17))\n`
      ).join("")
  )
  file("js/b.ts", "const a: number = 'x'\nconst b: string = 3\nexport const c = d\n")
  file("js/throws.mjs", "const read = () => { throw new TypeError('cannot read value 42') }\nread()\n")
  for (const command of [
    "node --test",
    "node --test --test-reporter=tap",
    "node throws.mjs",
    "node nothing.mjs",
    `${root}/node_modules/.bin/tsc --noEmit --pretty b.ts`,
    `${root}/node_modules/.bin/tsc --noEmit b.ts`,
    `${root}/node_modules/.bin/oxlint .`,
    "node --help | head -120"
  ])
    run(command, join(work, "js"))
  const rows = Array.from({ length: 60 }, (_, at) => ({
    id: `model-${at}`,
    object: "model",
    created: 1_700_000_000 + at,
    owned_by: at % 2 === 0 ? "openai" : "anthropic"
  }))
  file("json/models.json", JSON.stringify(rows))
  file("json/pretty.json", JSON.stringify(rows, null, 2))
  file("json/list.json", JSON.stringify({ object: "list", data: rows }))
  for (const name of ["models", "pretty", "list"]) run(`cat ${name}.json`, join(work, "json"))
  run("jq -r '.[].id' models.json", join(work, "json"))
  run("jq '.[0:10]' models.json", join(work, "json"))
  const stamp = (at) =>
    `2026-11-23T10:${String(Math.trunc(at / 60)).padStart(2, "0")}:${String(at % 60).padStart(2, "0")}Z`
  file(
    "logs/web.log",
    Array.from({ length: 300 }, (_, at) =>
      at % 5 === 0
        ? `${stamp(at)} "GET /healthz HTTP/1.1" 200 2`
        : at % 71 === 0
          ? `${stamp(at)} ERROR connect ECONNREFUSED 127.0.0.1:5432`
          : `${stamp(at)} INFO request ${at} took ${at % 17} ms`
    ).join("\n")
  )
  file("logs/docker.sh", "cat web.log\n")
  for (const command of [
    "bash docker.sh",
    "tail -100 web.log",
    "cat web.log",
    "grep ERROR web.log",
    "head -20 web.log",
    "grep -c INFO web.log"
  ])
    run(command, join(work, "logs"))
  run(
    "git init -q . && git config user.email a@example.com && git config user.name user && git add -A && git commit -m 'First' && git status",
    work
  )
  file("js/new.ts", "export {}\n")
  run("git status", work)
  run("git add -A && git status", work)
  run("git commit -m 'Add a file'", work)
  run("git branch topic && git branch -a", work)
  run("git push", work)
  run("git checkout nothing", work)
  run("git rm -r --cached json logs", work)
  run("git diff --cached", work)
  run("tar cvf /dev/null .", join(work, "py"))
  for (const command of [
    "psql --help",
    "docker ps",
    "cmake --help | head -80",
    "curl -v http://127.0.0.1:9/",
    "wget -t 1 http://127.0.0.1:9/",
    "apt-cache policy git",
    "dpkg -l | head -150",
    "sqlite3 --help"
  ])
    run(command)
} finally {
  rmSync(work, { recursive: true, force: true })
}
const path = new URL("outputs.json", import.meta.url)
writeFileSync(path, `[\n${outputs.map((output) => JSON.stringify(output)).join(",\n")}\n]\n`)
console.log(`${outputs.length} outputs, ${outputs.reduce((sum, { text }) => sum + text.length, 0)} characters`)
