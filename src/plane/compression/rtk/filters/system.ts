/** Filters of outputs: the machine. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const system: ReadonlyArray<Filter> = [
  {
    id: "ps",
    label: "ps",
    description: "Processes that do something; threads of the kernel are counted.",
    category: "system",
    priority: 50,
    match: {
      commands: ["^(?:ps|pgrep|pstree)\\b"],
      patterns: ["^USER +PID +%CPU", "^ *PID +TTY"]
    },
    rules: {
      collapsePatterns: [
        " \\[(?:kworker|ksoftirqd|migration|rcu_|cpuhp|watchdog|scsi_|irq/|kthreadd|idle_inject)[^\\]]*\\]$"
      ],
      replace: [
        {
          pattern: "(\\S) {3,}",
          replacement: "$1  "
        }
      ],
      truncateLineAt: 240,
      headLines: 60,
      tailLines: 60
    },
    tests: [
      {
        name: "shortens threads of the kernel",
        command: "ps aux",
        input: text([
          "USER       PID %CPU %MEM COMMAND",
          "root         1  0.0  0.1 /sbin/init",
          "root         2  0.0  0.0 [kthreadd]",
          "root         9  0.0  0.0 [kworker/0:0H-events]",
          "root        10  0.0  0.0 [ksoftirqd/0]",
          "root        11  0.0  0.0 [rcu_sched]",
          "user       812 99.0  3.1 node server.js"
        ]),
        expected: text([
          "USER  PID %CPU %MEM COMMAND",
          "root  1  0.0  0.1 /sbin/init",
          "root  2  0.0  0.0 [kthreadd]",
          "… 2 lines like these",
          "root  11  0.0  0.0 [rcu_sched]",
          "user  812 99.0  3.1 node server.js"
        ])
      },
      {
        name: "keeps a short list",
        command: "ps",
        input: text(["    PID TTY          TIME CMD", "    812 pts/0    00:00:01 bash"]),
        expected: text(["    PID TTY  TIME CMD", "    812 pts/0  00:00:01 bash"])
      }
    ]
  },
  {
    id: "df",
    label: "df, du, lsblk, mount",
    description: "Disks; what is in memory only is dropped.",
    category: "system",
    priority: 50,
    match: {
      commands: ["^(?:df|du|lsblk|mount|findmnt|ncdu)\\b"],
      patterns: ["^Filesystem +(?:1K-blocks|Size)"]
    },
    rules: {
      dropPatterns: [
        "^(?:tmpfs|devtmpfs|udev|shm|overlay|none|proc|sysfs|cgroup2?|devpts|mqueue|securityfs|debugfs|tracefs|bpf|fusectl|configfs|hugetlbfs|pstore) +(?:\\d|on )",
        "^/dev/loop\\d+ "
      ],
      replace: [
        {
          pattern: "(\\S) {3,}",
          replacement: "$1  "
        }
      ],
      headLines: 60,
      tailLines: 60
    },
    tests: [
      {
        name: "keeps disks",
        command: "df -h",
        input: text([
          "Filesystem      Size  Used Avail Use% Mounted on",
          "tmpfs           1.6G  2.1M  1.6G   1% /run",
          "/dev/sda1        50G   48G  2.0G  97% /",
          "/dev/loop0       64M   64M     0 100% /snap/core20/1"
        ]),
        expected: text(["Filesystem  Size  Used Avail Use% Mounted on", "/dev/sda1  50G  48G  2.0G  97% /"])
      },
      {
        name: "keeps the total",
        command: "du -sh *",
        input: text(["12K\ta", "4.0K\tb", "1.2G\tdata"]),
        expected: text(["12K\ta", "4.0K\tb", "1.2G\tdata"])
      }
    ]
  },
  {
    id: "top",
    label: "top, htop, free, vmstat, uptime",
    description: "Load, memory and the processes at the head.",
    category: "system",
    priority: 50,
    match: {
      commands: ["^(?:top|htop|free|vmstat|iostat|uptime|w|sar|mpstat|nvidia-smi|lscpu)\\b"],
      patterns: ["^top - \\d\\d:\\d\\d:\\d\\d up "]
    },
    rules: {
      replace: [
        {
          pattern: "(\\S) {3,}",
          replacement: "$1  "
        }
      ],
      headLines: 40,
      tailLines: 5,
      maxLines: 45
    },
    preserve: {
      summaryPatterns: ["^(?:top -|Tasks:|%Cpu|MiB Mem|MiB Swap|Mem:|Swap:)"]
    },
    tests: [
      {
        name: "keeps the head",
        command: "top -bn1",
        input: text([
          "top - 10:00:00 up 2 days,  1 user,  load average: 1.20, 0.80, 0.50",
          "Tasks: 120 total,   2 running",
          "%Cpu(s): 10.0 us,  2.0 sy",
          "MiB Mem :   3916.0 total,    200.0 free",
          "",
          "    PID USER      PR  NI    VIRT    RES  %CPU COMMAND",
          "    812 user      20   0  1.2g   300m   99.0 node"
        ]),
        expected: text([
          "top - 10:00:00 up 2 days,  1 user,  load average: 1.20, 0.80, 0.50",
          "Tasks: 120 total,  2 running",
          "%Cpu(s): 10.0 us,  2.0 sy",
          "MiB Mem :  3916.0 total,  200.0 free",
          "",
          "    PID USER  PR  NI  VIRT  RES  %CPU COMMAND",
          "    812 user  20  0  1.2g  300m  99.0 node"
        ])
      },
      {
        name: "keeps memory",
        command: "free -m",
        input: text([
          "               total        used        free",
          "Mem:            3916        2000         900",
          "Swap:              0           0           0"
        ]),
        expected: text(["               total  used  free", "Mem:  3916  2000  900", "Swap:  0  0  0"])
      }
    ]
  },
  {
    id: "env",
    label: "env, printenv, set",
    description: "Variables; long lists of paths are shortened.",
    category: "system",
    priority: 50,
    match: {
      commands: ["^(?:env|printenv|set|export -p|declare -p|locale|ulimit)\\b"],
      patterns: ["^LS_COLORS="]
    },
    rules: {
      dropPatterns: ["^(?:declare -x )?LS_COLORS=", "^_="],
      truncateLineAt: 300
    },
    tests: [
      {
        name: "drops colours of ls",
        command: "printenv",
        input: text(["HOME=/srv/u", "LS_COLORS=rs=0:di=01;34:ln=01;36", "PATH=/usr/bin:/bin", "_=/usr/bin/env"]),
        expected: text(["HOME=/srv/u", "PATH=/usr/bin:/bin"])
      },
      {
        name: "leaves one as it is",
        command: "printenv HOME",
        input: text(["/srv/u"]),
        expected: text(["/srv/u"])
      }
    ]
  },
  {
    id: "journalctl",
    label: "journalctl",
    description: "Failures, and the last lines.",
    category: "system",
    priority: 50,
    match: {
      commands: ["^(?:journalctl|logread|syslog)\\b"]
    },
    rules: {
      dropPatterns: [
        "^-- (?:Logs begin|Journal begins|No entries)",
        ": pam_unix\\(\\S+\\): session (?:opened|closed)",
        "systemd(?:-logind)?\\[\\d+\\]: (?:Started|Starting|Finished|Reached target|Removed session|New session|Created slice|Removed slice) .*session"
      ],
      headLines: 20,
      tailLines: 100,
      truncateLineAt: 400
    },
    tests: [
      {
        name: "drops sessions and keeps failures",
        command: "journalctl -u a",
        input: text([
          "Nov 23 10:00:01 host CRON[12]: pam_unix(cron:session): session opened for user root",
          "Nov 23 10:00:02 host a[40]: listening on 3000",
          "Nov 23 10:00:03 host a[40]: Error: connect ECONNREFUSED 127.0.0.1:5432",
          "Nov 23 10:00:04 host systemd[1]: a.service: Main process exited, code=exited, status=1/FAILURE"
        ]),
        expected: text([
          "Nov 23 10:00:02 host a[40]: listening on 3000",
          "Nov 23 10:00:03 host a[40]: Error: connect ECONNREFUSED 127.0.0.1:5432",
          "Nov 23 10:00:04 host systemd[1]: a.service: Main process exited, code=exited, status=1/FAILURE"
        ])
      },
      {
        name: "counts lines that repeat",
        command: "journalctl -n 5 -o cat",
        input: text(["retry", "retry", "retry", "retry", "ok"]),
        expected: text(["retry (×4)", "ok"])
      }
    ]
  },
  {
    id: "systemctl",
    label: "systemctl, service",
    description: "Units that do not run, and the sum; those that do are shortened.",
    category: "system",
    priority: 50,
    match: {
      commands: ["^(?:systemctl|service|launchctl|supervisorctl|pm2)\\b"]
    },
    rules: {
      collapsePatterns: [" loaded +active +(?:running|exited|mounted|plugged|listening|waiting|active) "],
      dropPatterns: ["^(?:LOAD|ACTIVE|SUB) +[=→]", "^To show all installed unit files"],
      headLines: 40,
      tailLines: 60
    },
    preserve: {
      errorPatterns: ["^● ", " failed ", "not-found"],
      summaryPatterns: ["^ *(?:Active|Main PID|Loaded):", "loaded units listed"]
    },
    tests: [
      {
        name: "shortens units that run",
        command: "systemctl list-units",
        input: text([
          "  UNIT            LOAD   ACTIVE SUB     DESCRIPTION",
          "  a.service       loaded active running A",
          "  b.service       loaded active running B",
          "  c.service       loaded active exited  C",
          "  d.service       loaded active running D",
          "● e.service       loaded failed failed  E",
          "",
          "LOAD   = Reflects whether the unit definition was properly loaded."
        ]),
        expected: text([
          "  UNIT            LOAD   ACTIVE SUB     DESCRIPTION",
          "  a.service       loaded active running A",
          "… 2 lines like these",
          "  d.service       loaded active running D",
          "● e.service       loaded failed failed  E"
        ])
      },
      {
        name: "keeps the state of one",
        command: "systemctl status a",
        input: text([
          "● a.service - A",
          "     Loaded: loaded (/etc/systemd/system/a.service; enabled)",
          "     Active: failed (Result: exit-code) since Mon 2026-11-23",
          "   Main PID: 812 (code=exited, status=1/FAILURE)"
        ]),
        expected: text([
          "● a.service - A",
          "     Loaded: loaded (/etc/systemd/system/a.service; enabled)",
          "     Active: failed (Result: exit-code) since Mon 2026-11-23",
          "   Main PID: 812 (code=exited, status=1/FAILURE)"
        ])
      }
    ]
  },
  {
    id: "dmesg",
    label: "dmesg",
    description: "Failures of the kernel, and the last lines.",
    category: "system",
    priority: 55,
    match: {
      commands: ["^dmesg\\b"]
    },
    rules: {
      dropPatterns: [
        "ACPI: (?:Reserving|PM|IRQ|Interpreter|Using|LAPIC|IOAPIC)",
        "BIOS-e820:",
        "pci \\d{4}:\\S+: (?:BAR|reg|bridge|PME)",
        "audit: type="
      ],
      headLines: 10,
      tailLines: 110,
      truncateLineAt: 300
    },
    tests: [
      {
        name: "keeps what was killed",
        command: "dmesg | tail",
        input: text([
          "[    0.000000] BIOS-e820: [mem 0x0000000000000000-0x000000000009fbff] usable",
          "[    0.100000] pci 0000:00:01.0: BAR 4: assigned [io  0xc000-0xc00f]",
          "[ 1234.567890] Out of memory: Killed process 812 (node) total-vm:1234567kB"
        ]),
        expected: text(["[ 1234.567890] Out of memory: Killed process 812 (node) total-vm:1234567kB"])
      },
      {
        name: "keeps faults of disks",
        command: "dmesg",
        input: text([
          '[   12.000000] audit: type=1400 audit(1.2:3): apparmor="STATUS"',
          "[   13.000000] blk_update_request: I/O error, dev sda, sector 2048"
        ]),
        expected: text([
          '[   12.000000] audit: type=1400 audit(1.2:3): apparmor="STATUS"',
          "[   13.000000] blk_update_request: I/O error, dev sda, sector 2048"
        ])
      }
    ]
  }
]
