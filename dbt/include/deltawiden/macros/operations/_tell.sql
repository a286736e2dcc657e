{#- Show what an operation did, and end with an error if it failed at any table. -#}
{% macro _deltawiden_tell(outcomes, output) %}
  {%- if output == 'json' -%}
    {% do print(tojson(outcomes.document)) %}
  {%- elif output != 'text' -%}
    {% do exceptions.raise_compiler_error(
      outcomes.operation ~ ": output: got '" ~ output ~ "'; accepted: text, json") %}
  {%- elif outcomes.text -%}
    {% do log(outcomes.operation ~ '\n' ~ outcomes.text, info=True) %}
  {%- endif -%}
  {%- if outcomes.failed -%}
    {% do exceptions.raise_compiler_error(outcomes.failure_text) %}
  {%- endif -%}
{% endmacro %}


{#- An operation takes no argument that it does not know: a misspelt `dry_run` must not run. -#}
{% macro _deltawiden_no_other_arguments(operation, others) %}
  {%- if others -%}
    {%- set accepted = operation.macro.arguments | map(attribute='name') -%}
    {% do exceptions.raise_compiler_error(
      operation.macro.name ~ ': there is no argument ' ~ others | join(', ') ~ '; accepted: '
      ~ accepted | join(', ')) %}
  {%- endif -%}
{% endmacro %}
