# Results of a run with a name that equal those of its scale: links, so that an override of a
# student trains no teacher again. The scale's own results are not touched.


if wiring.taken_over:

    rule take_over:
        input:
            lambda wildcards: wiring.taken_over[f"{RUN}{wildcards.file}"],
        output:
            "<run>/{file}",
        wildcard_constraints:
            file=one_of(wiring.files_taken_over(folders=False)),
        localrule: True
        message:
            "take over {input}"
        shell:
            "ln -srf {input} {output}"

    use rule take_over as take_over_folder with:
        output:
            directory("<run>/{file}"),
        wildcard_constraints:
            file=one_of(wiring.files_taken_over(folders=True)),
        localrule: True
        message:
            "take over {input}"

    makers = [rule.name for rule in workflow.rules if rule.output]
    workflow.ruleorder("take_over", "take_over_folder", *makers)
