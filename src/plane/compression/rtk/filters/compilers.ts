/** Filters of outputs: compilers and builds. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const compilers: ReadonlyArray<Filter> = [
  {
    id: "cargo-build",
    label: "cargo build, cargo check, cargo clippy",
    description: "Errors and warnings with their places, without a line for each crate.",
    category: "compilers",
    priority: 50,
    match: {
      commands: [
        "^cargo (?:\\+\\S+ )?(?:b|build|c|check|clippy|run|r|install|doc|publish|update|add|fetch)\\b",
        "^rustc\\b"
      ],
      patterns: ["^\\s+Compiling \\S+ v\\d"]
    },
    rules: {
      dropPatterns: [
        "^\\s*(?:Compiling|Checking|Downloading|Downloaded|Updating|Fresh|Locking|Adding|Blocking|Documenting|Unpacking) ",
        "^ {2,}\\|$"
      ],
      maxLines: 240
    },
    preserve: {
      errorPatterns: ["^(?:error|warning)(?:\\[|:)", "^\\s*-->", "^\\s*= (?:note|help)", "^\\d* *\\|"],
      summaryPatterns: ["^\\s*Finished "]
    },
    tests: [
      {
        name: "keeps errors and drops crates",
        command: "cargo build",
        input: text([
          "   Compiling libc v0.2.170",
          "   Compiling serde v1.0.219",
          "   Compiling a v0.1.0 (/repo)",
          "error[E0308]: mismatched types",
          " --> src/main.rs:2:18",
          "  |",
          '2 |     let a: i32 = "x";',
          "  |            ---   ^^^ expected `i32`, found `&str`",
          "",
          'error: could not compile `a` (bin "a") due to 1 previous error'
        ]),
        expected: text([
          "error[E0308]: mismatched types",
          " --> src/main.rs:2:18",
          "  |",
          '2 |     let a: i32 = "x";',
          "  |            ---   ^^^ expected `i32`, found `&str`",
          "",
          'error: could not compile `a` (bin "a") due to 1 previous error'
        ])
      },
      {
        name: "keeps the time of a build",
        command: "cargo build --release",
        input: text(["   Compiling a v0.1.0 (/repo)", "    Finished `release` profile [optimized] target(s) in 1.20s"]),
        expected: text(["    Finished `release` profile [optimized] target(s) in 1.20s"])
      }
    ]
  },
  {
    id: "cargo-test",
    label: "cargo test, cargo nextest",
    description: "What failed and the sums.",
    category: "compilers",
    priority: 50,
    match: {
      commands: ["^cargo (?:\\+\\S+ )?(?:t|test|nextest|bench|miri test)\\b"],
      patterns: ["^test result: "]
    },
    rules: {
      passPatterns: ["^test .* \\.\\.\\. ok$", "^\\s*PASS \\["],
      dropPatterns: [
        "^\\s*(?:Compiling|Checking|Downloading|Downloaded|Updating|Fresh|Locking|Adding|Running|Doc-tests) ",
        "^running 0 tests$"
      ]
    },
    preserve: {
      errorPatterns: ["^test .* \\.\\.\\. FAILED", "^---- ", "panicked at", "^\\s*(?:left|right):"],
      summaryPatterns: ["^test result:", "^running \\d+ tests?"]
    },
    tests: [
      {
        name: "keeps failures and sums",
        command: "cargo test",
        input: text([
          "   Compiling a v0.1.0 (/repo)",
          "     Running unittests src/lib.rs",
          "running 3 tests",
          "test tests::error_is_kept ... ok",
          "test tests::two ... ok",
          "test tests::adds ... FAILED",
          "",
          "---- tests::adds stdout ----",
          "thread 'tests::adds' panicked at src/lib.rs:9:5:",
          "assertion `left == right` failed",
          "  left: 2",
          " right: 3",
          "",
          "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
        ]),
        expected: text([
          "running 3 tests",
          "test tests::adds ... FAILED",
          "",
          "---- tests::adds stdout ----",
          "thread 'tests::adds' panicked at src/lib.rs:9:5:",
          "assertion `left == right` failed",
          "  left: 2",
          " right: 3",
          "",
          "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
        ])
      },
      {
        name: "keeps the sums of a green run",
        command: "cargo test",
        input: text([
          "running 2 tests",
          "test a ... ok",
          "test b ... ok",
          "",
          "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
        ]),
        expected: text([
          "running 2 tests",
          "",
          "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
        ])
      }
    ]
  },
  {
    id: "go-build",
    label: "go build, go vet, golangci-lint",
    description: "Errors with their places.",
    category: "compilers",
    priority: 50,
    match: {
      commands: ["^go (?:build|vet|install|get|mod|run|generate|fmt|list)\\b", "^(?:golangci-lint|staticcheck)\\b"]
    },
    rules: {
      dropPatterns: ["^go: (?:downloading|extracting|finding) "],
      collapsePatterns: ["^go: added ", "^go: upgraded "],
      onEmpty: "ok"
    },
    preserve: {
      errorPatterns: ["\\.go:\\d+"]
    },
    tests: [
      {
        name: "keeps errors",
        command: "go build ./...",
        input: text([
          "go: downloading github.com/x/y v1.2.0",
          "# example.com/a",
          "./main.go:5:2: undefined: fmt",
          "./main.go:9:7: declared and not used: b"
        ]),
        expected: text(["# example.com/a", "./main.go:5:2: undefined: fmt", "./main.go:9:7: declared and not used: b"])
      },
      {
        name: "says ok when nothing remains",
        command: "go mod download",
        input: text(["go: downloading github.com/x/y v1.2.0", "go: downloading github.com/x/z v1.3.0"]),
        expected: text(["ok"])
      }
    ]
  },
  {
    id: "go-test",
    label: "go test",
    description: "What failed and the packages.",
    category: "compilers",
    priority: 50,
    match: {
      commands: ["^(?:go test|gotestsum)\\b"],
      patterns: ["^=== RUN +Test", "^--- (?:PASS|FAIL): Test"]
    },
    rules: {
      passPatterns: ["^\\s*--- PASS: ", "^=== (?:RUN|PAUSE|CONT|NAME) ", "^PASS$"],
      collapsePatterns: ["^\\??\\s*\\S+\\s+\\[no test files\\]$", "^ok +\\S+\\s"],
      dropPatterns: ["^go: downloading "]
    },
    preserve: {
      errorPatterns: ["^\\s*--- FAIL", "^FAIL", "_test\\.go:\\d+", "^panic:"],
      summaryPatterns: ["^coverage:"]
    },
    tests: [
      {
        name: "keeps failures",
        command: "go test -v ./...",
        input: text([
          "=== RUN   TestError",
          "--- PASS: TestError (0.00s)",
          "=== RUN   TestAdds",
          "    a_test.go:9: got 2, want 3",
          "--- FAIL: TestAdds (0.00s)",
          "FAIL",
          "FAIL\texample.com/a\t0.002s",
          "ok  \texample.com/b\t0.001s"
        ]),
        expected: text([
          "    a_test.go:9: got 2, want 3",
          "--- FAIL: TestAdds (0.00s)",
          "FAIL",
          "FAIL\texample.com/a\t0.002s",
          "ok  \texample.com/b\t0.001s"
        ])
      },
      {
        name: "shortens packages without tests",
        command: "go test ./...",
        input: text([
          "?   \texample.com/a\t[no test files]",
          "?   \texample.com/b\t[no test files]",
          "?   \texample.com/c\t[no test files]",
          "?   \texample.com/d\t[no test files]",
          "ok  \texample.com/e\t0.01s"
        ]),
        expected: text([
          "?   \texample.com/a\t[no test files]",
          "… 2 lines like these",
          "?   \texample.com/d\t[no test files]",
          "ok  \texample.com/e\t0.01s"
        ])
      }
    ]
  },
  {
    id: "maven",
    label: "mvn",
    description: "Errors, failed tests and the sums, without downloads.",
    category: "compilers",
    priority: 50,
    match: {
      commands: ["^(?:mvn|mvnw|\\./mvnw)\\b"],
      patterns: ["^\\[INFO\\] Scanning for projects", "^\\[INFO\\] BUILD (?:SUCCESS|FAILURE)"]
    },
    rules: {
      dropPatterns: [
        "^\\[INFO\\] *$",
        "^\\[INFO\\] -+(?:\\[ .* \\]-+)?$",
        "^(?:\\[INFO\\] )?(?:Downloading|Downloaded) from ",
        "^\\[INFO\\] Scanning for projects",
        "^Progress \\(\\d+\\)",
        "^\\[INFO\\] (?:Copying|Using|Nothing to compile|Changes detected|Recompiling|skip non existing)",
        "^\\[INFO\\] --- "
      ],
      passPatterns: [
        "^\\[INFO\\] Running \\S+$",
        "^\\[INFO\\] Tests run: \\d+, Failures: 0, Errors: 0, Skipped: \\d+, Time elapsed: .*(?: -- | - )in "
      ]
    },
    preserve: {
      errorPatterns: ["^\\[(?:ERROR|WARNING)\\]"],
      summaryPatterns: ["BUILD (?:SUCCESS|FAILURE)", "Tests run: .*\\d$", "Total time"]
    },
    tests: [
      {
        name: "keeps errors and the sums",
        command: "mvn -q test",
        input: text([
          "[INFO] Scanning for projects...",
          "[INFO] ",
          "[INFO] ----------------------< com.example:a >----------------------",
          "Downloading from central: https://repo.maven.apache.org/maven2/x.pom",
          "[INFO] Running com.example.ATest",
          "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.04 s <<< FAILURE! -- in com.example.ATest",
          "[ERROR] com.example.ATest.adds -- Time elapsed: 0.004 s <<< FAILURE!",
          "[INFO] BUILD FAILURE",
          "[INFO] Total time:  1.234 s"
        ]),
        expected: text([
          "[INFO] ----------------------< com.example:a >----------------------",
          "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.04 s <<< FAILURE! -- in com.example.ATest",
          "[ERROR] com.example.ATest.adds -- Time elapsed: 0.004 s <<< FAILURE!",
          "[INFO] BUILD FAILURE",
          "[INFO] Total time:  1.234 s"
        ])
      },
      {
        name: "keeps how it ended",
        command: "mvn package",
        input: text([
          "[INFO] --- jar:3.4.1:jar (default-jar) @ a ---",
          "[INFO] Building jar: /repo/target/a.jar",
          "[INFO] BUILD SUCCESS",
          "[INFO] Total time:  2.1 s"
        ]),
        expected: text(["[INFO] Building jar: /repo/target/a.jar", "[INFO] BUILD SUCCESS", "[INFO] Total time:  2.1 s"])
      }
    ]
  },
  {
    id: "gradle",
    label: "gradle",
    description: "Tasks that failed and the sums.",
    category: "compilers",
    priority: 50,
    match: {
      commands: ["^(?:gradle|gradlew|\\./gradlew)\\b"],
      patterns: ["^> Task :"]
    },
    rules: {
      dropPatterns: [
        "^> Task \\S+ (?:UP-TO-DATE|NO-SOURCE|FROM-CACHE)$",
        "^Starting a Gradle Daemon",
        "^Download(?:ing)? https?://",
        "^> (?:Configure|IDLE|Resolve)",
        "^<-+> \\d+%"
      ],
      collapsePatterns: ["^> Task \\S+$"],
      passPatterns: ["^\\S+ > .* PASSED$"]
    },
    preserve: {
      errorPatterns: ["FAILED$", "^\\* What went wrong", "^e: "],
      summaryPatterns: ["^BUILD ", "actionable tasks"]
    },
    tests: [
      {
        name: "keeps what failed",
        command: "./gradlew test",
        input: text([
          "Starting a Gradle Daemon (subsequent builds will be faster)",
          "> Task :compileJava UP-TO-DATE",
          "> Task :processResources NO-SOURCE",
          "> Task :test FAILED",
          "ATest > handlesError() PASSED",
          "ATest > adds() FAILED",
          "    org.opentest4j.AssertionFailedError at ATest.java:9",
          "",
          "BUILD FAILED in 3s",
          "3 actionable tasks: 1 executed, 2 up-to-date"
        ]),
        expected: text([
          "> Task :test FAILED",
          "ATest > adds() FAILED",
          "    org.opentest4j.AssertionFailedError at ATest.java:9",
          "",
          "BUILD FAILED in 3s",
          "3 actionable tasks: 1 executed, 2 up-to-date"
        ])
      },
      {
        name: "keeps how it ended",
        command: "gradle build",
        input: text(["> Task :a", "> Task :b", "> Task :c", "> Task :d", "BUILD SUCCESSFUL in 2s"]),
        expected: text(["> Task :a", "… 2 lines like these", "> Task :d", "BUILD SUCCESSFUL in 2s"])
      }
    ]
  },
  {
    id: "dotnet",
    label: "dotnet",
    description: "Errors, warnings and sums.",
    category: "compilers",
    priority: 50,
    match: {
      commands: ["^(?:dotnet|msbuild|nuget)\\b"]
    },
    rules: {
      dropPatterns: [
        "^\\s*Determining projects to restore",
        "^\\s*All projects are up-to-date for restore",
        "^\\s*Restored ",
        "^MSBuild version",
        "^Microsoft \\(R\\)"
      ],
      passPatterns: ["^\\s*Passed \\S+ \\["]
    },
    preserve: {
      summaryPatterns: ["^\\s*\\d+ (?:Warning|Error)\\(s\\)", "^(?:Passed|Failed)!", "^Build (?:succeeded|FAILED)"]
    },
    tests: [
      {
        name: "keeps errors and sums",
        command: "dotnet build",
        input: text([
          "  Determining projects to restore...",
          "  All projects are up-to-date for restore.",
          "/repo/A.cs(9,13): error CS0029: Cannot implicitly convert type 'string' to 'int' [/repo/a.csproj]",
          "",
          "Build FAILED.",
          "    0 Warning(s)",
          "    1 Error(s)"
        ]),
        expected: text([
          "/repo/A.cs(9,13): error CS0029: Cannot implicitly convert type 'string' to 'int' [/repo/a.csproj]",
          "",
          "Build FAILED.",
          "    0 Warning(s)",
          "    1 Error(s)"
        ])
      },
      {
        name: "drops tests that passed",
        command: "dotnet test",
        input: text([
          "  Passed Adds [2 ms]",
          "  Failed Throws error [3 ms]",
          "Failed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2"
        ]),
        expected: text([
          "  Failed Throws error [3 ms]",
          "Failed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2"
        ])
      }
    ]
  },
  {
    id: "make",
    label: "make",
    description: "What was run that failed, with the messages of the tools.",
    category: "compilers",
    priority: 50,
    match: {
      commands: ["^g?make\\b"]
    },
    rules: {
      dropPatterns: [
        "^make(?:\\[\\d+\\])?: (?:Entering|Leaving) directory",
        "^make(?:\\[\\d+\\])?: Nothing to be done"
      ],
      collapsePatterns: [
        "^(?:gcc|g\\+\\+|cc|c\\+\\+|clang|clang\\+\\+|ar|ranlib|ld|install|mkdir|cp|rm|echo) ",
        "^ +(?:CC|CXX|LD|AR|AS|GEN|CCLD|INSTALL|HOSTCC) ",
        "^\\[ *\\d+%\\] "
      ],
      truncateLineAt: 400
    },
    preserve: {
      errorPatterns: ["^make(?:\\[\\d+\\])?: \\*\\*\\*", "\\*\\*\\*"]
    },
    tests: [
      {
        name: "keeps failures and shortens the commands",
        command: "make -j4",
        input: text([
          "make[1]: Entering directory '/repo/src'",
          "gcc -O2 -c a.c -o a.o",
          "gcc -O2 -c b.c -o b.o",
          "gcc -O2 -c c.c -o c.o",
          "gcc -O2 -c d.c -o d.o",
          "d.c:3:5: error: unknown type name 'foo'",
          "make[1]: *** [Makefile:9: d.o] Error 1",
          "make[1]: Leaving directory '/repo/src'",
          "make: *** [Makefile:2: all] Error 2"
        ]),
        expected: text([
          "gcc -O2 -c a.c -o a.o",
          "… 2 lines like these",
          "gcc -O2 -c d.c -o d.o",
          "d.c:3:5: error: unknown type name 'foo'",
          "make[1]: *** [Makefile:9: d.o] Error 1",
          "make: *** [Makefile:2: all] Error 2"
        ])
      },
      {
        name: "keeps warnings",
        command: "make",
        input: text([
          "cc -c a.c",
          "a.c:1:1: warning: control reaches end of non-void function",
          "make: 'all' is up to date."
        ]),
        expected: text([
          "cc -c a.c",
          "a.c:1:1: warning: control reaches end of non-void function",
          "make: 'all' is up to date."
        ])
      }
    ]
  },
  {
    id: "cmake",
    label: "cmake, ninja, meson, autoconf",
    description: "What is missing and how it ended, without the checks that passed.",
    category: "compilers",
    priority: 50,
    match: {
      commands: ["^(?:cmake|ninja|meson|ctest|\\./configure|configure|autoreconf|bazel)\\b"]
    },
    rules: {
      dropPatterns: [
        "^-- (?:Detecting|Check for working|The \\S+ compiler)",
        "^-- Looking for .* - found$",
        "^-- Performing Test .* - Success$",
        "^checking .* (?:yes|ok)$",
        "^-- Performing Test \\S+$",
        "^-- Looking for \\S+$"
      ],
      collapsePatterns: ["^\\[ *\\d+%\\] ", "^\\[\\d+/\\d+\\] ", "^checking "]
    },
    preserve: {
      summaryPatterns: ["^-- (?:Configuring|Generating|Build files)"]
    },
    tests: [
      {
        name: "keeps what was not found",
        command: "cmake -B build",
        input: text([
          "-- The C compiler identification is GNU 14.2.0",
          "-- Detecting C compiler ABI info",
          "-- Detecting C compiler ABI info - done",
          "-- Looking for pthread.h",
          "-- Looking for pthread.h - found",
          "-- Looking for foo.h",
          "-- Looking for foo.h - not found",
          "-- Configuring done (0.5s)",
          "-- Build files have been written to: /repo/build"
        ]),
        expected: text([
          "-- Looking for foo.h - not found",
          "-- Configuring done (0.5s)",
          "-- Build files have been written to: /repo/build"
        ])
      },
      {
        name: "shortens the steps of a build",
        command: "ninja",
        input: text([
          "[1/5] Building C object a.o",
          "[2/5] Building C object b.o",
          "[3/5] Building C object c.o",
          "[4/5] Building C object d.o",
          "[5/5] Linking C executable a"
        ]),
        expected: text(["[1/5] Building C object a.o", "… 3 lines like these", "[5/5] Linking C executable a"])
      }
    ]
  },
  {
    id: "gcc",
    label: "gcc, clang",
    description: "Every message with its place.",
    category: "compilers",
    priority: 50,
    match: {
      commands: ["^(?:gcc|g\\+\\+|cc|c\\+\\+|clang|clang\\+\\+|ld|javac|swiftc|kotlinc|zig|ghc)\\b"],
      patterns: ["^\\S+\\.(?:c|cc|cpp|h|hpp):\\d+:\\d+: (?:error|warning|note|fatal error): "]
    },
    rules: {
      dropPatterns: ["^In file included from ", "^ +from .*[:,]$"],
      maxLines: 240
    },
    preserve: {
      errorPatterns: [": (?:error|warning|note|fatal error):", "^ +\\d* \\|"]
    },
    tests: [
      {
        name: "keeps message, place and line",
        command: "gcc -c a.c",
        input: text([
          "In file included from b.h:1,",
          "                 from a.c:1:",
          "a.c: In function 'main':",
          "a.c:3:5: error: 'x' undeclared (first use in this function)",
          "    3 |     x = 1;",
          "      |     ^",
          "a.c:3:5: note: each undeclared identifier is reported only once for each function it appears in"
        ]),
        expected: text([
          "In file included from b.h:1,",
          "                 from a.c:1:",
          "a.c: In function 'main':",
          "a.c:3:5: error: 'x' undeclared (first use in this function)",
          "    3 |     x = 1;",
          "      |     ^",
          "a.c:3:5: note: each undeclared identifier is reported only once for each function it appears in"
        ])
      },
      {
        name: "keeps errors of the linker",
        command: "gcc a.o",
        input: text([
          "/usr/bin/ld: a.o: in function `main':",
          "a.c:(.text+0x5): undefined reference to `foo'",
          "collect2: error: ld returned 1 exit status"
        ]),
        expected: text([
          "/usr/bin/ld: a.o: in function `main':",
          "a.c:(.text+0x5): undefined reference to `foo'",
          "collect2: error: ld returned 1 exit status"
        ])
      }
    ]
  }
]
