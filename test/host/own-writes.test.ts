import { after, before, describe, test } from "node:test";
import { type GatewayWindow, openGateway, startEditor } from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import { LanguageProject } from "../../harness/languages/language-project.ts";
import { pyright } from "../../harness/languages/language-servers.ts";
import { OwnWrites, PYTHON, TYPESCRIPT } from "../../harness/languages/own-writes.ts";
import { RxjsWorkspace } from "../../harness/languages/rxjs-workspace.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { answersAreRight } from "../answers-are-right.ts";

const TRIALS = 10;
const SEED = 20_251_122;

describe("own writes", () => {
  describe("in TypeScript, on the sources of rxjs", () => {
    let rxjs: RxjsWorkspace;
    let editor: RealVsCode;
    let gateway: GatewayWindow;

    before(async () => {
      rxjs = await RxjsWorkspace.create();
      editor = await startEditor();
      gateway = await openGateway(editor, rxjs.folder);
      const { uri, position } = rxjs.find("src/internal/Observable.ts", "Observable<T>", "export class");
      await eventually(
        () => gateway.client.references(uri, position),
        () => true,
      );
    });

    after(async () => {
      await gateway?.client.close();
      await editor?.stop();
      rxjs?.remove();
    });

    test("what is asked right after a write is answered about the files after it", async (t) => {
      await answersAreRight(t, gateway.client, OwnWrites.begin(rxjs.folder, TYPESCRIPT, SEED), TRIALS);
    });
  });

  describe("in Python, by pyright", () => {
    let project: LanguageProject;

    before(async () => {
      project = await LanguageProject.open("python", await pyright());
      await project.untilWhole("fleet.py", { line: 0, character: 6 }, 6);
    });

    after(() => project?.close());

    test("what is asked right after a write is answered about the files after it", async (t) => {
      await answersAreRight(t, project.gateway.client, OwnWrites.begin(project.folder, PYTHON, SEED), TRIALS);
    });
  });
});
