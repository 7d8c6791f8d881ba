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

      # `nix run .#<name>`: npm downloads packages, which the sandbox of `nix flake check` does not allow.
      script =
        pkgs: name: text:
        pkgs.writeShellApplication {
          inherit name text;
          runtimeInputs = tools pkgs ++ [ pkgs.coreutils ];
          # The SQLite addon is compiled against the headers that come with this Node.
          runtimeEnv.npm_config_nodedir = "${pkgs.nodejs_20}";
        };
      scripts = pkgs: {
        check = script pkgs "check" "npm run check";
        test = script pkgs "test" "npm test";
        ci = script pkgs "ci" "./.ci/run";
      };
    in
    {
      devShells = forAllSystems (pkgs: {
        default = pkgs.mkShell {
          packages = tools pkgs ++ [ pkgs.sqlite ];
          npm_config_nodedir = "${pkgs.nodejs_20}";
        };
      });

      packages = forAllSystems scripts;
      checks = forAllSystems scripts;
    };
}
