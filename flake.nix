{
  description = "Self-hosted gateway between AI clients and AI providers";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.05";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forAllSystems = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});

      # What installing, building and testing need; npm comes with Node.
      tools = pkgs: [
        pkgs.nodejs_20
        pkgs.python3
        pkgs.gnumake
        pkgs.gcc
        pkgs.git
      ];

      # What the tests of transparent capture need besides (Linux).
      nativeTools = pkgs: [
        pkgs.iproute2
        pkgs.iptables
        pkgs.nftables
        pkgs.openssl
        pkgs.curl
        pkgs.util-linux
      ];

      # The addon of transparent capture, for Linux: `nix build .#tproxy`. It lies at native/tproxy/build/Release in a checkout.
      tproxy =
        pkgs:
        pkgs.stdenv.mkDerivation {
          pname = "gateway-tproxy";
          version = "0.1.0";
          src = ./native/tproxy;
          buildPhase = ''
            $CC -std=c11 -Wall -Wextra -Werror -O2 -fPIC -shared -DNAPI_VERSION=8 \
              -I${pkgs.nodejs_20}/include/node -o tproxy.node tproxy.c
          '';
          installPhase = "install -Dm444 tproxy.node $out/lib/tproxy.node";
          meta.platforms = pkgs.lib.platforms.linux;
        };

      # `nix run .#<name>`: npm downloads packages, which the sandbox of `nix flake check` does not allow.
      script =
        pkgs: name: text:
        pkgs.writeShellApplication {
          inherit name text;
          runtimeInputs =
            tools pkgs ++ [ pkgs.coreutils ] ++ pkgs.lib.optionals pkgs.stdenv.isLinux (nativeTools pkgs);
          # The SQLite addon is compiled against the headers that come with this Node.
          runtimeEnv.npm_config_nodedir = "${pkgs.nodejs_20}";
        };
      scripts = pkgs: {
        check = script pkgs "check" "npm run check";
        test = script pkgs "test" "npm test";
        native = script pkgs "native" "./.ci/native";
        ci = script pkgs "ci" "./.ci/run";
      };
      built = pkgs: scripts pkgs // pkgs.lib.optionalAttrs pkgs.stdenv.isLinux { tproxy = tproxy pkgs; };
    in
    {
      devShells = forAllSystems (pkgs: {
        default = pkgs.mkShell {
          packages =
            tools pkgs ++ [ pkgs.sqlite ] ++ pkgs.lib.optionals pkgs.stdenv.isLinux (nativeTools pkgs);
          npm_config_nodedir = "${pkgs.nodejs_20}";
        };
      });

      packages = forAllSystems built;
      checks = forAllSystems built;
    };
}
