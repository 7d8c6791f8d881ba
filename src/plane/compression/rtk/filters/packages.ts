/** Filters of outputs: packages of systems and languages. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const packages: ReadonlyArray<Filter> = [
  {
    id: "pip",
    label: "pip, uv, poetry, conda",
    description: "What was installed, without downloads.",
    category: "packages",
    priority: 45,
    match: {
      commands: ["^(?:pip\\d?|uv|poetry|pipenv|conda|mamba)\\b", "^python\\d? -m pip\\b"]
    },
    rules: {
      dropPatterns: [
        "^\\s*(?:Downloading|Using cached|Obtaining|Preparing metadata|Building wheel|Created wheel|Stored in directory|Getting requirements|Installing build dependencies)",
        "^\\s*[━╸╺-]+ [\\d.]+/[\\d.]+ [kMG]B",
        "^\\[notice\\]",
        "^Looking in (?:indexes|links)"
      ],
      collapsePatterns: ["^Requirement already satisfied: ", "^Collecting ", "^ [+-] \\S+=="],
      truncateLineAt: 1000
    },
    preserve: {
      summaryPatterns: ["^Successfully ", "^(?:Resolved|Installed|Prepared|Audited) \\d"]
    },
    tests: [
      {
        name: "keeps what was installed",
        command: "pip install -r requirements.txt",
        input: text([
          "Collecting requests",
          "  Downloading requests-2.32.3-py3-none-any.whl (64 kB)",
          "     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 64.9/64.9 kB 3.1 MB/s eta 0:00:00",
          "Requirement already satisfied: idna in ./venv (from requests) (3.10)",
          "Requirement already satisfied: certifi in ./venv (from requests) (2026.1.1)",
          "Requirement already satisfied: urllib3 in ./venv (from requests) (2.5.0)",
          "Successfully installed requests-2.32.3",
          "[notice] A new release of pip is available: 25.0 -> 26.0"
        ]),
        expected: text([
          "Collecting requests",
          "Requirement already satisfied: idna in ./venv (from requests) (3.10)",
          "Requirement already satisfied: certifi in ./venv (from requests) (2026.1.1)",
          "Requirement already satisfied: urllib3 in ./venv (from requests) (2.5.0)",
          "Successfully installed requests-2.32.3"
        ])
      },
      {
        name: "keeps why it failed",
        command: "pip install x",
        input: text([
          "ERROR: Could not find a version that satisfies the requirement x (from versions: none)",
          "ERROR: No matching distribution found for x"
        ]),
        expected: text([
          "ERROR: Could not find a version that satisfies the requirement x (from versions: none)",
          "ERROR: No matching distribution found for x"
        ])
      }
    ]
  },
  {
    id: "apt",
    label: "apt, apt-get, dpkg, apk, dnf, yum, pacman",
    description: "What was installed, without downloads and set-up.",
    category: "packages",
    priority: 50,
    match: {
      commands: ["^(?:apt|apt-get|aptitude|dpkg|apk|dnf|yum|pacman|zypper)\\b"]
    },
    rules: {
      dropPatterns: [
        "^(?:Reading package lists|Building dependency tree|Reading state information)",
        "^(?:Get|Hit|Ign):\\d+ ",
        "^\\(Reading database",
        "^Preparing to unpack",
        "^(?:Selecting previously unselected|Processing triggers)",
        "^(?:fetch https?://|debconf: )",
        "^Fetched "
      ],
      collapsePatterns: ["^Unpacking ", "^Setting up ", "^\\(\\d+/\\d+\\) ", "^\\S+/\\S+ \\S+ \\S+$"]
    },
    preserve: {
      summaryPatterns: ["^\\d+ upgraded,", "newly installed", "^After this operation"]
    },
    tests: [
      {
        name: "keeps counts",
        command: "apt-get install -y a",
        input: text([
          "Reading package lists... Done",
          "Building dependency tree... Done",
          "The following NEW packages will be installed:",
          "  a b c",
          "0 upgraded, 3 newly installed, 0 to remove and 12 not upgraded.",
          "Get:1 http://deb.debian.org/debian trixie/main amd64 a 1.0 [12 kB]",
          "Unpacking a (1.0) ...",
          "Unpacking b (1.0) ...",
          "Unpacking c (1.0) ...",
          "Setting up c (1.0) ...",
          "Setting up b (1.0) ...",
          "Setting up a (1.0) ..."
        ]),
        expected: text([
          "The following NEW packages will be installed:",
          "  a b c",
          "0 upgraded, 3 newly installed, 0 to remove and 12 not upgraded.",
          "Unpacking a (1.0) ...",
          "Unpacking b (1.0) ...",
          "Unpacking c (1.0) ...",
          "Setting up c (1.0) ...",
          "Setting up b (1.0) ...",
          "Setting up a (1.0) ..."
        ])
      },
      {
        name: "keeps why it failed",
        command: "apt install x",
        input: text(["Reading package lists... Done", "E: Unable to locate package x"]),
        expected: text(["E: Unable to locate package x"])
      }
    ]
  },
  {
    id: "brew",
    label: "brew, choco, winget",
    description: "What was installed, without downloads.",
    category: "packages",
    priority: 50,
    match: {
      commands: ["^(?:brew|port|choco|winget|scoop|snap|flatpak|nix|nix-env)\\b"]
    },
    rules: {
      dropPatterns: [
        "^==> (?:Downloading|Fetching|Auto-updat|Updating Homebrew|Downloaded)",
        "^#+ +[\\d.]+%$",
        "^Already downloaded: ",
        "^Disable this behaviour by setting",
        "^Hide these hints"
      ],
      collapsePatterns: ["^==> (?:Pouring|Installing dependencies|Installing \\S+ dependency)"]
    },
    preserve: {
      summaryPatterns: ["^🍺", "^Warning:"]
    },
    tests: [
      {
        name: "keeps what was installed",
        command: "brew install jq",
        input: text([
          "==> Fetching jq",
          "==> Downloading https://ghcr.io/v2/homebrew/core/jq/manifests/1.7.1",
          "######################################################################## 100.0%",
          "==> Pouring jq--1.7.1.arm64_sonoma.bottle.tar.gz",
          "🍺  /opt/homebrew/Cellar/jq/1.7.1: 19 files, 1.4MB"
        ]),
        expected: text([
          "==> Pouring jq--1.7.1.arm64_sonoma.bottle.tar.gz",
          "🍺  /opt/homebrew/Cellar/jq/1.7.1: 19 files, 1.4MB"
        ])
      },
      {
        name: "keeps why it failed",
        command: "brew install x",
        input: text(["==> Auto-updating Homebrew...", 'Warning: No available formula with the name "x".']),
        expected: text(['Warning: No available formula with the name "x".'])
      }
    ]
  },
  {
    id: "composer-gem",
    label: "composer, bundle, gem, mix, cabal",
    description: "What was installed.",
    category: "packages",
    priority: 50,
    match: {
      commands: ["^(?:composer|bundle|gem|mix|cabal|stack|pub|flutter|dart|luarocks|cpanm?)\\b"]
    },
    rules: {
      dropPatterns: [
        "^Using \\S+ \\d",
        "^Fetching (?:gem metadata|\\S+ \\d)",
        "^ {2}- (?:Downloading|Syncing) ",
        "^\\d+ packages you are using are looking for funding"
      ],
      collapsePatterns: ["^Installing \\S+ \\d", "^ {2}- (?:Installing|Locking|Upgrading) "]
    },
    preserve: {
      summaryPatterns: ["^Bundle complete", "^Package operations:"]
    },
    tests: [
      {
        name: "keeps the sums",
        command: "bundle install",
        input: text([
          "Fetching gem metadata from https://rubygems.org/..",
          "Using rake 13.2.1",
          "Installing a 1.0",
          "Installing b 1.0",
          "Installing c 1.0",
          "Installing d 1.0",
          "Bundle complete! 4 Gemfile dependencies, 5 gems now installed."
        ]),
        expected: text([
          "Installing a 1.0",
          "… 2 lines like these",
          "Installing d 1.0",
          "Bundle complete! 4 Gemfile dependencies, 5 gems now installed."
        ])
      },
      {
        name: "keeps why it failed",
        command: "composer install",
        input: text([
          "Your lock file does not contain a compatible set of packages.",
          "  Problem 1",
          "    - a/b 1.0 requires php ^8.4 -> your php version (8.2.0) does not satisfy that requirement."
        ]),
        expected: text([
          "Your lock file does not contain a compatible set of packages.",
          "  Problem 1",
          "    - a/b 1.0 requires php ^8.4 -> your php version (8.2.0) does not satisfy that requirement."
        ])
      }
    ]
  }
]
