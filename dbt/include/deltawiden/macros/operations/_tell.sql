{#- Show what an operation did, and end with an error if it failed at any table. -#}
{% macro _deltawiden_tell(outcomes, output) %}
  {%- if output == 'json' -%}
    {% do print(tojson(outcomes.document)) %}
  {%- elif outcomes.text -%}
    {% do log(outcomes.operation ~ '\n' ~ outcomes.text, info=True) %}
  {%- endif -%}
  {%- if outcomes.failed -%}
    {% do exceptions.raise_compiler_error(outcomes.failure_text) %}
  {%- endif -%}
{% endmacro %}
